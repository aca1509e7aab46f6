import { expect, test } from "vitest";
import { fill } from "./fill.ts";

const values = new Map([
  ["A", "1"],
  ["B", `$& \${C}`],
]);

test("fill replaces variables by the exact values", () => {
  const entry = { command: "x", args: [`--a=\${A}`, `\${B:-none}`, `\${C}`], env: { KEY: `\${A}-\${B}` } };
  expect(fill(entry, values)).toEqual({
    entry: { command: "x", args: ["--a=1", `$& \${C}`, `\${C}`], env: { KEY: `1-$& \${C}` } },
    unused: [],
  });
});

test("a value without a variable becomes an environment variable of a local server and is unused by a remote one", () => {
  expect(fill({ command: "x", args: [] }, values).entry).toEqual({
    command: "x",
    args: [],
    env: { A: "1", B: `$& \${C}` },
  });
  expect(fill({ type: "http", url: `https://x/\${A}`, headers: { H: `\${A}` } }, values)).toEqual({
    entry: { type: "http", url: "https://x/1", headers: { H: "1" } },
    unused: ["B"],
  });
});

test("an entry without variables stays unchanged", () => {
  for (const entry of [
    { command: "x", args: ["y"] },
    { type: "http", url: "https://x" },
  ] as const)
    expect(fill(entry, new Map())).toEqual({ entry, unused: [] });
});
