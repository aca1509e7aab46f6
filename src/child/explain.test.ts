import { expect, test } from "vitest";
import { specOf } from "../../test/support/scripted-server.ts";
import type { ServerSpec } from "../config/spec.ts";
import { connectTimeout, explain } from "./explain.ts";
import { ChildFailure } from "./link.ts";

const call = { server: "docs", repeat: "unsafe", unsent: false } as const;
const remote = { ...specOf("docs"), kind: "http", url: "https://docs.example/mcp", headers: {} } as unknown;

test("the error of a slow start names the server once", () => {
  const late = connectTimeout({ ...specOf("docs"), connectTimeoutMs: 1_500 }, "still loading");
  expect(explain(late, { ...call, unsent: true }, specOf("docs")).message).toBe(
    "docs: It was not ready within 1500 ms (connectTimeoutMs); its last output: still loading. Nothing was done.",
  );
});

test("the error of a refused credential says once what is required, and never login where it is something else", () => {
  const refused = (text: string, challenge?: string) =>
    explain(new ChildFailure("auth", text, { challenge }), call, remote as ServerSpec).message;
  expect(refused("https://docs.example/mcp answered 401; it requires login", "Bearer")).toBe(
    "docs: https://docs.example/mcp answered 401; it requires login. Ask the user to run: metamcp auth docs",
  );
  expect(refused("https://docs.example/mcp answered 403; it requires other credentials")).toMatch(
    /^docs: https:\/\/docs.example\/mcp answered 403; it requires other credentials\. Check its headers/,
  );
});

test("a failure that only a person can fix is not worth another try", () => {
  const retryable = (needsFix: boolean): unknown =>
    explain(new ChildFailure("offline", "Gone.", { needsFix }), { ...call, unsent: true }, specOf("docs"));
  expect(retryable(true)).toMatchObject({ retryable: false });
  expect(retryable(false)).toMatchObject({ retryable: true });
});

test("the error of a call that may have had effects does not invite to repeat it", () => {
  const crash = new ChildFailure("stdio-exit", "The process exited with code 3");
  expect(explain(crash, call, specOf("docs"))).toMatchObject({
    message:
      "docs: The process exited with code 3. It is not known whether the call had effects: check that.",
    retryable: false,
  });
});
