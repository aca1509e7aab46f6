import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { readHandshake } from "./handshake.ts";

const said = (more: object) => toRaw({ protocolVersion: "2025-11-25", capabilities: {}, ...more });

test("a session keeps only short capabilities and versions", () => {
  const capabilities = { experimental: { note: "x".repeat(60_000) } };
  expect(readHandshake(said({ capabilities })).capabilities).toHaveLength(60_028);
  capabilities.experimental.note += "x".repeat(6_000);
  expect(() => readHandshake(said({ capabilities }))).toThrow("capabilities may have at most 65536 bytes");
  expect(readHandshake(said({ protocolVersion: "2031-01-01" })).version).toBe("2025-11-25");
  for (const protocolVersion of ["9".repeat(65), ["2025-11-25"], { a: 1 }, null])
    expect(() => readHandshake(said({ protocolVersion }))).toThrow("needs a protocolVersion");
});
