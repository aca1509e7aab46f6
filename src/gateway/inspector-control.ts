/** The interface through which the admin API tests servers and endpoints. */
import type { ClientSnippet, Remote } from "../kernel/client-snippet.ts";
import { BOOLEAN, list, object, type Static, TEXT } from "../kernel/json-schema.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";
import type { CompiledEndpoint } from "./compile.ts";

/** A call of a tool directly at its server, without endpoint and namespace. */
export interface InspectRequest {
  /** uuid. */
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly signal: Signal;
}

export type CallResult = Readonly<Record<string, unknown>>;

const STEP = object(
  { step: TEXT, ok: BOOLEAN, detail: { ...TEXT, description: "the finding or the problem" } },
  { ms: { type: "integer" } },
);
export type SelfTestStep = Static<typeof STEP>;

export const SELF_TEST = object({
  ok: BOOLEAN,
  url: { ...TEXT, description: "the tested address" },
  steps: list(STEP),
});
export type SelfTest = Static<typeof SELF_TEST>;

export interface InspectorControl {
  /** The URL of the gateway for clients. */
  readonly url: string;
  /** Resolves with a CallToolResult, even if the call failed. */
  inspect(request: InspectRequest): Promise<CallResult>;
  /** The config entry for each known client. */
  clients(remote: Remote): Promise<readonly ClientSnippet[]>;
  selfTest(endpoint: CompiledEndpoint): Promise<SelfTest>;
}
