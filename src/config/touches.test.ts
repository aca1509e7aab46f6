import { expect, test } from "vitest";
import { ignoresProxies, touchesOf } from "./touches.ts";

test.each([
  ["20.20.2", true],
  ["22.20.9", true],
  ["22.21.0", false],
  ["23.11.0", true],
  ["24.4.1", true],
  ["24.5.0", false],
  ["25.0.0", false],
])("Node %s ignores proxies: %s", (version, ignores) => {
  expect(ignoresProxies(version)).toBe(ignores);
});

test("a runtime that ignores the proxy is named, with what to do, if there is a proxy", () => {
  const sandbox = { read: [], write: [], network: ["a.example"] };
  const of = (
    command: string,
    version: string,
    network: "all" | "none" | readonly string[] = ["a.example"],
  ) => touchesOf({ command, sandbox: { ...sandbox, network } }, version);
  expect(of("/usr/bin/npx", "20.20.2")).toMatch(/network: a\.example\. .*ignore the proxy: update Node/);
  expect(of("npx", "24.21.0")).toMatch(/network: a\.example$/);
  expect(of("uvx", "20.20.2")).toMatch(/network: a\.example$/);
  expect(of("java", "24.21.0")).toContain("JAVA_TOOL_OPTIONS");
  expect(of("node", "20.20.2", "all")).toMatch(/network: any$/);
  expect(of("node", "20.20.2", "none")).toMatch(/network: none$/);
  expect(touchesOf({ command: "node" }, "20.20.2")).toBe("everything that its user may touch");
});
