/** A client on stdio, and calls of it that must fail. */
import { expect } from "vitest";
import { gateway } from "./gateway.ts";
import { failureOf, textOf } from "./meta.ts";
import type { RawClient } from "./raw-client.ts";
import type { Temp } from "./temp.ts";

export async function openClient(folder: Temp, ...flags: string[]): Promise<RawClient> {
  const client = gateway(folder, { flags });
  await client.initialize();
  return client;
}

/**
 * Calls a tool that must fail. Checks that the answer is a result with text for the model and a typed error,
 * not a JSON-RPC error.
 */
export async function failedCall(client: RawClient, server: string, tool: string, args: object = {}) {
  const result = await client.mcpCall(server, tool, args);
  const error = failureOf(result) as unknown as Record<string, unknown>;
  const keys = [
    "code",
    "message",
    "tool_id",
    "server",
    "op",
    "step_index",
    "retryable",
    "retryAfterMs",
    "details",
  ];
  expect(Object.keys(error).filter((key) => !keys.includes(key))).toEqual([]);
  expect(error).toMatchObject({
    code: expect.any(String),
    message: expect.any(String),
    retryable: expect.any(Boolean),
  });
  const text = textOf(result);
  expect(text.startsWith(`${error["code"]}: ${error["message"]}`)).toBe(true);
  const advice: Record<string, RegExp> = {
    validation_input: / Correct the arguments and call again\.$/,
    execution_failed: / (?:otherwise change the call|Correct the code and run it again)\.$/,
    sandbox_limit: / Change the code\.$/,
    auth_required: / Repeat the call after that\.$/,
  };
  if (!error["retryable"] && / check (?:its effects )?before you repeat it\.$/.test(text)) return error;
  const again = error["retryable"] ? / (?:Retrying is safe|Retry after \d+ s)\.$/ : undefined;
  expect(text).toMatch(again ?? advice[error["code"] as string] ?? / Do not repeat the same call\.$/);
  return error;
}
