/**
 * Some calls with the command line of the official inspector, a client that is not one of the SDKs. Needs 110
 * MB of packages, so it runs only on demand.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { httpGateway } from "../support/http-gateway.ts";
import { INSTALL_MS, install } from "../support/install.ts";
import { fixture, ROOT, type Temp, temp } from "../support/temp.ts";

const PACKAGES = fileURLToPath(new URL("packages", import.meta.url));
const obstacle = process.env["METAMCP_INSPECTOR"] === "1" ? "" : ": METAMCP_INSPECTOR=1 runs it";
const run = promisify(execFile);

/** The entry in the inspector's config for MetaMCP. */
async function server(front: "stdio" | "streamable", folder: Temp): Promise<object> {
  const flags = ["--surface", "aggregate"];
  if (front === "streamable") return { type: "http", url: (await httpGateway(folder, ...flags)).url };
  const args = [join(ROOT, "dist/metamcp.js"), "--config", folder.config, "--log-level", "error", ...flags];
  return { type: "stdio", command: process.execPath, args, env: folder.env };
}

describe.skipIf(obstacle)(`the inspector${obstacle}`, () => {
  test.each([
    ["stdio", "legacy"],
    ["stdio", "2026"],
    ["streamable", "legacy"],
    ["streamable", "2026"],
  ] as const)(
    "lists and uses tools, prompts and resources over %s in the %s era",
    { timeout: INSTALL_MS },
    async (front, era) => {
      const packages = await install(PACKAGES);
      const folder = temp();
      folder.writeConfig({ a: fixture("--prompts", "1", "--resources", "1") });
      const config = folder.write(
        "inspector.json",
        JSON.stringify({ mcpServers: { metamcp: await server(front, folder) } }),
      );
      const inspect = async (...args: string[]): Promise<string> => {
        const cli = [
          join(packages, ".bin/mcp-inspector"),
          "--cli",
          "--config",
          config,
          "--server",
          "metamcp",
        ];
        const { stdout } = await run(process.execPath, [...cli, "--protocol-era", era, "--method", ...args], {
          env: { ...folder.env, HOME: folder.path(".") },
        });
        return stdout;
      };
      expect(await inspect("tools/list")).toContain('"a__echo"');
      const called = await inspect("tools/call", "--tool-name", "a__echo", "--tool-arg", "message=hello");
      expect(called).toContain('"hello"');
      expect(await inspect("prompts/get", "--prompt-name", "a__prompt_0")).toContain('"role"');
      expect(await inspect("resources/read", "--uri", "fixture://item/0")).toContain("fixture://item/0");
    },
  );
});
