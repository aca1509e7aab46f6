import { expect, test } from "vitest";
import { specOf } from "../../test/support/scripted-server.ts";
import type { ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { callError, connectTimeout } from "./failure-text.ts";
import { ChildFailure } from "./link.ts";

const call = { server: "docs", repeat: "unsafe", unsent: false, attempts: 1 } as const;
const remote = { ...specOf("docs"), kind: "http", url: "https://docs.example/mcp", headers: {} } as unknown;

test("the error of a slow start names the server once", () => {
  const late = connectTimeout(specOf("docs"), {
    phase: "started",
    limitMs: 1_500,
    lastWords: "still loading",
  });
  expect(callError(late, { ...call, unsent: true }, specOf("docs")).message).toBe(
    "docs: It was not ready within 1500 ms (connectTimeoutMs); its last output: still loading. Nothing was done.",
  );
});

test("the error of a refused credential says once what is required, and never login where it is something else", () => {
  const refused = (text: string, challenge?: string) =>
    callError(new ChildFailure("auth", text, { challenge }), call, remote as ServerSpec).message;
  expect(refused("https://docs.example/mcp answered 401; it requires login", "Bearer")).toBe(
    "docs: https://docs.example/mcp answered 401; it requires login. Ask the user to run: metamcp auth docs",
  );
  expect(refused("https://docs.example/mcp answered 403; it requires other credentials")).toMatch(
    /^docs: https:\/\/docs.example\/mcp answered 403; it requires other credentials\. Check its headers/,
  );
});

test("a failure that only a person can fix is not worth another try", () => {
  const retryable = (needsFix: boolean): unknown =>
    callError(new ChildFailure("offline", "Gone.", { needsFix }), { ...call, unsent: true }, specOf("docs"));
  expect(retryable(true)).toMatchObject({ retryable: false });
  expect(retryable(false)).toMatchObject({ retryable: true });
});

test("the error of a call that may have had effects does not invite to repeat it", () => {
  const crash = new ChildFailure("stdio-exit", "The process exited with code 3");
  expect(callError(crash, call, specOf("docs"))).toMatchObject({
    message:
      "docs: The process exited with code 3. The call may have run: check its effects before you repeat it.",
    retryable: false,
  });
});

test("every error of a call that was sent twice says so, in its text and in its data", () => {
  const twice = (error: Error): Error => callError(error, { ...call, attempts: 2 }, specOf("docs"));
  const said = /MetaMCP sent this call 2 times/;
  const crash = twice(new ChildFailure("stdio-exit", "The process exited with code 3")) as MetaMcpError;
  expect(crash.message).toMatch(said);
  expect(crash.context.details).toEqual({ category: "stdio-exit", attempts: 2 });
  const late = twice(new MetaMcpError("timeout", "too slow", { retryable: false })) as MetaMcpError;
  expect([late.message, late.toJSON()]).toMatchObject([
    expect.stringMatching(said),
    { details: { attempts: 2 } },
  ]);
  const answers = [undefined, { own: 1 }, "text"].map((data) => twice(RpcError.of(-32_000, "no", data)));
  for (const { message } of answers) expect(message).toMatch(said);
  expect(answers.map((error) => (error as RpcError).data)).toEqual([
    { "metamcp/attempts": 2 },
    { own: 1, "metamcp/attempts": 2 },
    "text",
  ]);
  const once = RpcError.of(-32_000, "no");
  expect(callError(once, call, specOf("docs"))).toBe(once);
});
