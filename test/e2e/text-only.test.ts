/** How official clients read our errors and resource links, on each surface. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, SDKS, type ToolResult } from "../support/sdk-clients.ts";
import { ROOT, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const SCRIPT = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");

function everything(): Temp {
  const folder = temp();
  folder.writeConfig({ everything: { command: process.execPath, args: [SCRIPT] } });
  return folder;
}

const textIn = ({ content }: ToolResult): string =>
  content.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("\n");

describe.each(SDKS)("%s", (sdk) => {
  test("receives our error for a tool with an output schema as a result with text", async () => {
    const client = await connect(sdk, "stdio", everything());
    // A list without cache waits only a short time for a starting server.
    const listed = async () => (await client.tools()).includes("everything__get-structured-content");
    await until(listed, { what: "the tools" });
    const failed = await client.call("everything__get-structured-content", { location: 5 });
    expect(failed.isError).toBe(true);
    expect(textIn(failed)).toMatch(/^validation_input: .*location.*Correct the arguments and call again\.$/s);
    expect(failed).toMatchObject({ _meta: { "metamcp/error": { code: "validation_input" } } });
  });

  test.each(["meta", "metatools"])(
    "reads a resource link of a result with the read tool and as a resource (%s)",
    async (surface) => {
      const client = await connect(sdk, "stdio", everything(), surface);
      await client.tools();
      const run = (server: string, tool: string, args: object): Promise<ToolResult> =>
        surface === "meta"
          ? client.call("mcp_call", { server, tool, args })
          : client.call("run_tool", { tool_id: `${server}:${tool}`, args });
      const linked = await run("everything", "get-resource-links", { count: 2 });
      const { uri } = linked.content.find(({ type }) => type === "resource_link") as unknown as {
        uri: string;
      };
      expect(uri).toMatch(/^demo:/);
      const read = await run("metamcp", "read", { uri });
      expect(read.isError ?? false).toBe(false);
      expect(read.content.at(-1)?.type).toMatch(/^(text|resource)$/);
      expect(await client.read(uri)).toMatchObject([{ uri }]);
      expect(textIn(await run("metamcp", "prompts", { server: "everything" }))).toContain('"simple-prompt"');
      const prompt = { server: "everything", name: "args-prompt", args: { city: "Paris" } };
      expect(textIn(await run("metamcp", "prompt", prompt))).toContain("Paris");
    },
  );
});
