import { expect, test } from "vitest";
import { MetaMcpError, mayHaveRun } from "../kernel/errors.ts";
import { asRaw, fromRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { errorText, executionFailed, failedResult } from "./failure.ts";

test("the error text says whether to repeat the call", () => {
  const said = (...error: ConstructorParameters<typeof MetaMcpError>) =>
    errorText(new MetaMcpError(...error));
  expect(said("pool_exhausted", "All busy")).toBe("pool_exhausted: All busy. Retrying is safe.");
  expect(said("rate_limited", "Slow down.", { retryAfterMs: 1_500 })).toMatch(/ Retry after 2 s\.$/);
  expect(said("timeout", "Silent.")).toMatch(/ Do not repeat the same call\.$/);
  for (const code of ["timeout", "server_unavailable"] as const)
    expect(said(code, mayHaveRun("unknown"), { retryable: false, mayHaveRun: true })).toMatch(
      / check its effects before you repeat it\.$/,
    );
  expect(said("sandbox_terminated", "Lost.")).toMatch(/ Check what its calls did before you run it again\.$/);
  expect(said("timeout", "Silent.", { retryable: true })).toMatch(/ Retrying is safe\.$/);
  expect(said("validation_input", "No.")).toMatch(/ Correct the arguments and call again\.$/);
  expect(said("execution_failed", "Rate limit exceeded.")).toMatch(
    / wait and try again; otherwise change the call\.$/,
  );
  expect(said("execution_failed", "TypeError", { op: "mcp_execute" })).toMatch(
    / Correct the code and run it again\.$/,
  );
  expect(said("execution_failed", "fetch failed", { retryable: true, retryAfterMs: 900 })).toMatch(
    / Retry after 1 s\.$/,
  );
  expect(said("sandbox_limit", "Time limit of the run")).toMatch(/ Change the code\.$/);
  expect(said("auth_required", "Log in.")).toMatch(/ Repeat the call after that\.$/);
  expect(said("tool_not_found", "No.")).toMatch(/ Do not repeat the same call\.$/);
  expect(said("cancelled", "The call was cancelled.")).toBe("cancelled: The call was cancelled.");
});

test("the error text contains the data of a server's error", () => {
  const raw = asRaw(Buffer.from('{"code":-32000,"message":"no","data":{"id":12345678901234567890}}'));
  const error = executionFailed(new RpcError(raw), { server: "s", tool_id: "s:t" });
  expect(errorText(error)).toContain('s answered with an error: no. Details: {"id":12345678901234567890}');
});

test("the error object is only in _meta if the tool has its own output schema", () => {
  const result = fromRaw(failedResult(new MetaMcpError("forbidden", "No."), "meta"));
  expect(result).toEqual({
    content: [{ type: "text", text: "forbidden: No. Do not repeat the same call." }],
    isError: true,
    _meta: { "metamcp/error": { code: "forbidden", message: "No.", retryable: false } },
  });
});

test("control characters are visible in the error text, line breaks stay", () => {
  const error = new MetaMcpError("tool_not_found", 'No tool "x\u001b[2J\u202e".\nNearest: y');
  expect(errorText(error)).toContain('"x\\u{1b}[2J\\u{202e}".\nNearest: y.');
});
