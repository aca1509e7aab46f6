import { expect, test } from "vitest";
import { galleryCandidates } from "./gallery/gallery.ts";
import { holdsSession, withKeepAlive } from "./stateful-server.ts";

test.each<[string, string[]]>([
  ["npx", ["-y", "@playwright/mcp"]],
  ["npx", ["@playwright/mcp@latest", "--headless"]],
  ["cmd", ["/c", "npx", "-y", "@playwright/mcp@0.0.83"]],
  ["uvx", ["--from", "browser-use[cli]", "browser-use", "--mcp"]],
  ["uvx", ["windows-mcp==0.5"]],
  ["docker", ["run", "-i", "--rm", "mcr.microsoft.com/playwright/mcp:v1"]],
  ["node", ["/srv/node_modules/@playwright/mcp/cli.js"]],
  ["C:\\x\\node_modules\\chrome-devtools-mcp\\build\\index.js", []],
  ["chrome-devtools-mcp", []],
])("%s %j holds a session", (command, args) => {
  expect(withKeepAlive({ command, args })).toEqual({ command, args, lifecycle: "keep-alive" });
});

test.each<object>([
  { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/@playwright"] },
  { command: "npx", args: ["-y", "@playwright/mcp-other"] },
  { command: "node", args: "cli.js" },
  { command: 7 },
  { url: "https://example.com/@playwright/mcp" },
])("%j holds none and stays as it is", (entry) => {
  expect(withKeepAlive(entry)).toBe(entry);
});

test("a lifecycle that the entry chooses itself is kept", () => {
  const entry = { command: "npx", args: ["@playwright/mcp"], lifecycle: "ephemeral" };
  expect(withKeepAlive(entry)).toBe(entry);
});

test("the gallery marks exactly the servers that hold a session", async () => {
  for (const { name, entry } of await galleryCandidates())
    expect([name, "lifecycle" in entry]).toEqual([name, holdsSession(entry)]);
});
