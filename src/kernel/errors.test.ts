import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ERRORS, MetaMcpError } from "./errors.ts";

const SOURCE = fileURLToPath(new URL("..", import.meta.url));

function sources(): string {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const own = files.filter((file) => /\.(ts|mjs)$/.test(file) && !/\.(test|contract)\.ts$/.test(file));
  return own.map((file) => readFileSync(join(SOURCE, file), "utf8")).join("\n");
}

test("every code that is used is in the table, and every code in the table is used or reserved", () => {
  const text = sources();
  const made = [...text.matchAll(/new MetaMcpError\(\s*(?:\w+ \? )?"(\w+)"(?:\s*:\s*"(\w+)")?/g)].flatMap(
    ([, ...codes]) => codes.filter(Boolean),
  );
  expect(made.filter((code) => !Object.hasOwn(ERRORS, code as string))).toEqual([]);
  const unused = Object.keys(ERRORS).filter(
    (code) => !text.replace(/export const ERRORS[\s\S]*?as const/, "").includes(`"${code}"`),
  );
  const reserved = Object.entries(ERRORS).flatMap(([code, traits]) => ("reserved" in traits ? [code] : []));
  expect(unused).toEqual(reserved);
});

test("retryable in the context overrides the table, and a timeout is not retryable by default", () => {
  expect(new MetaMcpError("timeout", "").retryable).toBe(false);
  expect(new MetaMcpError("timeout", "", { retryable: true }).retryable).toBe(true);
  expect(new MetaMcpError("server_unavailable", "").retryable).toBe(true);
  expect(new MetaMcpError("server_unavailable", "", { retryable: false }).toJSON()).toMatchObject({
    retryable: false,
  });
});

test("with() adds context and keeps the code, the message and the other context", () => {
  const error = new MetaMcpError("forbidden", "no", { server: "a", details: 1 }).with({
    op: "run_tool",
    step_index: 3,
  });
  expect(error.toJSON()).toMatchObject({
    code: "forbidden",
    message: "no",
    server: "a",
    op: "run_tool",
    step_index: 3,
    details: 1,
  });
  expect(MetaMcpError.is(error)).toBe(true);
});
