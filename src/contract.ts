/// <reference types="node" preserve="true" />
/** The exports of `metamcp/contract`: contract tests for your own parts. They need vitest. */

export { searchContract } from "./catalog/search/strategy.contract.ts";
export type { Subject as ConnectorSubject } from "./child/connector.contract.ts";
export { connectorContract } from "./child/connector.contract.ts";
export { middlewareContract } from "./kernel/middleware.contract.ts";
export type { LayerCall, LayerSubject } from "./middleware/layer.contract.ts";
export { layerContract } from "./middleware/layer.contract.ts";
export { executorContract } from "./sandbox/executor.contract.ts";
export type { TransportClient, TransportSubject } from "./transport/transport.contract.ts";
export { transportContract } from "./transport/transport.contract.ts";
