/// <reference types="node" preserve="true" />
/** The exports of the package `metamcp`. Nothing else is public. */

export type { Hit, SearchOptions, SearchStrategy, ServerText } from "./catalog/search/strategy.ts";
export type { Tool } from "./catalog/tool.ts";
export type { Connector, Link, LinkEvents } from "./child/link.ts";
export { ChildFailure } from "./child/link.ts";
export type { ServerSpec } from "./config/spec.ts";
export type { Call, Handler, Middleware, Origin, Uplink } from "./kernel/call.ts";
export type { ErrorCode, ErrorContext } from "./kernel/errors.ts";
export { MetaMcpError } from "./kernel/errors.ts";
export type { Log, LogFields, LogLevel } from "./kernel/log.ts";
export type { Principal } from "./kernel/principal.ts";
export type { Raw } from "./kernel/raw.ts";
export { fromRaw, toRaw } from "./kernel/raw.ts";
export type { Signal } from "./kernel/signal.ts";
export type { ToolFacts } from "./kernel/tool-facts.ts";
export type {
  CallOptions,
  CodeResult,
  ConfigFile,
  DiscoverOptions,
  Discovery,
  FoundPrompt,
  FoundResources,
  FoundServer,
  FoundTool,
  FoundTools,
  MetaMcp,
  MetaMcpOptions,
  PromptResult,
  ResourceResult,
  ToolResult,
} from "./library/api.ts";
export { createMetaMcp } from "./library/library.ts";
export type {
  CustomLayerContext as OwnLayerContext,
  CustomLayerKind as OwnLayerKind,
} from "./middleware/custom-layer.ts";
export type { Explanation, Layer, LayerRequest, ListRule } from "./middleware/layer.ts";
export { writeMessage } from "./rpc/encode.ts";
export type { Malformed, Message } from "./rpc/message.ts";
export { readMessage } from "./rpc/scan.ts";
export type { CodeRun, Executor, Limits, OutCall, Outcome } from "./sandbox/executor.ts";
export type { SurfaceName } from "./surface/kind.ts";
export type { Host, Readiness, Transport } from "./transport/transport.ts";
