import { expect, it } from "vitest";
import { installLink, systemOf } from "./install-link.ts";

const entry = { url: "https://gate.example.org/metamcp/dev/mcp", headers: { "X-API-Key": "k&y" } };

it("makes links that Cursor and VS Code read", () => {
  const cursor = new URL(installLink("cursor", { name: "dev tools", entry }) ?? "");
  expect(cursor.searchParams.get("name")).toBe("dev tools");
  expect(JSON.parse(atob(cursor.searchParams.get("config") ?? ""))).toEqual(entry);
  const vscode = installLink("vscode", { name: "dev", entry }) ?? "";
  expect(JSON.parse(decodeURIComponent(vscode.split("?")[1] ?? ""))).toEqual({ name: "dev", ...entry });
  expect(installLink("zed", { name: "dev", entry })).toBeUndefined();
});

it.each([
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "mac"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64)", "windows"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "linux"],
])("knows the system of %s", (userAgent, system) => {
  expect(systemOf(userAgent)).toBe(system);
});
