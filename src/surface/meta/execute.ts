/** mcp_execute: runs code that can call many tools and returns one value. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import type { Executor } from "../../sandbox/executor.ts";
import { resultOf } from "../code/outcome.ts";
import { runCode } from "../code/run-code.ts";
import { readInput } from "../input.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { EXECUTE } from "./tools.ts";

export interface CodeRequest {
  readonly args: Raw | undefined;
  readonly meta: Raw | undefined;
  readonly executor: Executor;
}

export async function execute(
  scope: Scope,
  { args, meta, executor }: CodeRequest,
  request: ClientRequest,
): Promise<Raw> {
  const input = readInput(EXECUTE, args);
  const code = fromRaw(input.get("code") as Raw) as string;
  const timeout = input.get("timeoutMs");
  const timeoutMs = timeout && (fromRaw(timeout) as number);
  const job = { code, meta, finder: "search(…)", ...(timeoutMs !== undefined && { timeoutMs }) };
  return resultOf(await runCode(scope, executor, job, request), code, EXECUTE.name);
}
