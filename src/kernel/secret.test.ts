import { inspect } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Log } from "./log.ts";
import { maskedLog } from "./masked-log.ts";
import { HIDDEN, maskError, maskOf, Secret } from "./secret.ts";

test("a secret cannot be printed by accident", () => {
  const secret = new Secret("hunter22");
  const held = { env: { KEY: secret }, list: [secret] };
  const printed = [
    `${secret}`,
    String(secret),
    JSON.stringify(held),
    inspect(held, { depth: 9, showHidden: true }),
    [secret].join(),
  ];
  for (const text of printed) {
    expect(text).not.toContain("hunter22");
    expect(text).toContain(HIDDEN);
  }
  expect(secret.reveal()).toBe("hunter22");
});

test("each line of a value and a credential without its scheme are masked, and short values are not", () => {
  const mask = maskOf(["-----BEGIN KEY-----\nabcdefgh\r\nijklmnop\n", "Bearer tok-123456", "short"]);
  expect(mask("it said abcdefgh, then ijklmnop")).toBe("it said [secret], then [secret]");
  expect(mask("tok-123456 is bad")).toBe("[secret] is bad");
  expect(mask("a short one")).toBe("a short one");
});

test("a value is masked inside JSON and inside a URL", () => {
  const value = 'a"b/c d\\e';
  const mask = maskOf([value]);
  for (const text of [JSON.stringify({ value }), `https://x/?k=${encodeURIComponent(value)}`])
    expect(mask(text)).toContain(HIDDEN);
});

test("a value is masked inside base64, whatever text is around it", () => {
  const value = fc
    .string({ minLength: 6, maxLength: 40, unit: "grapheme" })
    .filter((text) => text.trim() === text);
  fc.assert(
    fc.property(value, fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), (one, before, after) => {
      const bytes = Buffer.from(before + one + after);
      for (const form of ["base64", "base64url"] as const)
        expect(maskOf([one])(`Basic ${bytes.toString(form)}`)).toContain(HIDDEN);
    }),
  );
  expect(maskOf(["hunter22"])(Buffer.from("me:hunter22").toString("base64"))).toBe("bWU6[secret]I=");
});

test("no value of six characters or more is left in any text", () => {
  const value = fc.string({ minLength: 6, maxLength: 40 }).filter((text) => text.trim().length >= 6);
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 5 }),
      fc.string(),
      fc.string(),
      (values, before, after) => {
        fc.pre(values.every((one) => !HIDDEN.includes(one.trim())));
        const mask = maskOf(values.map((one) => new Secret(one)));
        for (const one of values) {
          const shown = mask(`${before}${one}${after}`);
          expect(shown.replaceAll(HIDDEN, "\0")).not.toContain(one.trim());
        }
      },
    ),
  );
});

test("maskError masks the message and the stack of an error", () => {
  const error = new Error("no access with hunter22");
  maskError(error, maskOf(["hunter22"]));
  expect(`${error.message} ${error.stack}`).not.toContain("hunter22");
  expect(error.message).toBe("no access with [secret]");
});

test("a masked log masks the secrets of the server that a line names, in every field", () => {
  const lines: string[] = [];
  const write = (message: string, fields?: object): void =>
    void lines.push(
      JSON.stringify({ message, ...fields }, (_key, value: unknown) =>
        value instanceof Error ? value.message : value,
      ),
    );
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const masked = maskedLog(log, (server) => (server === "a" ? maskOf(["hunter22"]) : undefined));
  masked.warn("hunter22", { server: "a", reason: "hunter22", error: new Error("hunter22"), count: 1 });
  masked.info("hunter22", { server: "b" });
  expect(lines[0]).toBe(
    JSON.stringify({ message: HIDDEN, server: "a", reason: HIDDEN, error: HIDDEN, count: 1 }),
  );
  expect(lines[1]).toContain("hunter22");
});
