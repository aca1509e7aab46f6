/** Skills on the surfaces with tools only: found with the tools, and read with the tool that reads. */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { oneSkill, skillServer } from "../../support/skills.ts";
import { type Temp, temp } from "../../support/temp.ts";

const WORDS = "process a customer refund by company policy";

function twoServers(): Temp {
  const folder = temp();
  const own = oneSkill("skill://refunds/SKILL.md", "Process customer refund requests per company policy");
  const hostile = oneSkill(
    "skill://refunds/SKILL.md",
    "Process customer refund requests per company policy\u202e\u0007",
  );
  folder.writeConfig({
    shop: skillServer(folder, "shop", own),
    else: skillServer(folder, "else", hostile),
  });
  return folder;
}

async function call(client: RawClient, name: string, args: object): Promise<string> {
  const { result } = await client.request("tools/call", { name, arguments: args });
  return (result?.["content"] as { text: string }[]).map(({ text }) => text).join("\n");
}

test("on meta a query finds skills of both servers, and read returns them", async () => {
  const client = gateway(twoServers(), { flags: ["--surface", "meta"] });
  await client.initialize();
  const found = JSON.parse(await call(client, "mcp_discover", { query: WORDS })) as {
    skills: { server: string; name: string; uri: string; description: string }[];
    readSkill: string;
  };
  expect(found.skills.map(({ uri }) => uri)).toEqual([
    "skill://else/refunds/SKILL.md",
    "skill://shop/refunds/SKILL.md",
  ]);
  expect(found.skills[0]?.description).toContain("\\u{202e}\\u{7}");
  expect(found.readSkill).toContain('tool: "read"');
  const read = (uri: string) => call(client, "mcp_call", { server: "metamcp", tool: "read", args: { uri } });
  expect(await read("skill://shop/refunds/SKILL.md")).toContain("# refunds\n\nProcess customer refund");
  expect(await read("skill://shop/refunds/references/GUIDE.md")).toContain("The guide of Process");
  expect(await read("skill://refunds/SKILL.md")).toContain("pass it as server");
  const one = JSON.parse(await call(client, "mcp_discover", { server: "shop" }));
  expect(one.server).toMatchObject({ skillCount: 1, skills: [{ name: "refunds" }] });
  const listed = JSON.parse(
    await call(client, "mcp_call", { server: "metamcp", tool: "resources", args: { server: "shop" } }),
  );
  expect(listed.skills[0].files).toContain("skill://shop/refunds/references/GUIDE.md");
  const others = JSON.parse(await call(client, "mcp_discover", { query: "take a screenshot of a web page" }));
  expect(others.skills).toBeUndefined();
  await client.close();
});

test("on metatools a search finds them, and run_tool reads them", async () => {
  const client = gateway(twoServers(), { flags: ["--surface", "metatools"] });
  await client.initialize();
  const found = JSON.parse(await call(client, "search_tools", { query: WORDS })) as {
    skills: { namespace: string; uri: string }[];
  };
  expect(found.skills.map(({ namespace }) => namespace)).toEqual(["else", "shop"]);
  const args = { tool_id: "metamcp:read", args: { uri: found.skills[1]?.uri } };
  expect(await call(client, "run_tool", args)).toContain("Process customer");
  await client.close();
});
