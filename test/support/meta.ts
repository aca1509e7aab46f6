/** Reads the results of MetaMCP's own tools. */
import { processesWithEnv } from "./processes.ts";
import type { RawClient } from "./raw-client.ts";

type Result = Record<string, unknown>;

export interface ShownServer {
  readonly name: string;
  readonly state: string;
  readonly connected: boolean;
  readonly toolCount: number;
  readonly criticality: string;
  readonly reason?: string;
}

export interface Discovered {
  readonly servers?: readonly ShownServer[];
  readonly server?: ShownServer;
  readonly tools?: readonly { readonly tool: string; readonly server?: string }[];
  readonly unknown?: readonly { readonly server: string; readonly reason: string }[];
  readonly notice?: string;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export async function discover(client: RawClient, args: object = {}): Promise<Discovered> {
  return JSON.parse(textOf(await client.tool("mcp_discover", args))) as Discovered;
}

/** The status of one server. Waits only for this server. */
export async function serverStatus(client: RawClient, server: string): Promise<ShownServer> {
  const found = await discover(client, { server });
  if (!found.server) throw new Error(`${server} is not shown`);
  return found.server;
}

export function textOf(result: Result): string {
  const [first] = result["content"] as { text?: string }[];
  return first?.text ?? "";
}

/** The typed error of a failed call. Throws if the call succeeded. */
export function failureOf(result: Result): Failure {
  const { error = inMeta(result) } = (result["structuredContent"] ?? {}) as { error?: Failure };
  if (!result["isError"] || !error) throw new Error(`no failure: ${JSON.stringify(result).slice(0, 500)}`);
  return error;
}

/** The error in `_meta`, if the structured content belongs to the tool. */
function inMeta(result: Result): Failure | undefined {
  return (result["_meta"] as Record<string, Failure> | undefined)?.["metamcp/error"];
}

export function attemptsOf(result: Result): unknown {
  return (result["_meta"] as Result | undefined)?.["metamcp/attempts"];
}

/** All living processes that this gateway started, even if they have another parent now. */
export function startedBy(client: RawClient): number[] {
  return processesWithEnv("METAMCP_CHILD", `.${client.pid}.`);
}
