/** Equal skills of three servers and a folder, on every surface and in both eras: the bytes of their sources. */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLIENTS, type Driver, open } from "../../support/eras.ts";
import { digestOf, oneSkill, skillServer, skillText } from "../../support/skills.ts";
import { type Temp, temp } from "../../support/temp.ts";

const REFUNDS = "skill://refunds/SKILL.md";
const ABOUT = (owner: string): string => `Refunds of ${owner}`;
const OWNERS = ["alpha", "beta", "gamma", "skills"] as const;

function four(): Temp {
  const folder = temp();
  const [alpha, beta, gamma] = OWNERS.slice(0, 3).map((name) =>
    skillServer(folder, name, oneSkill(REFUNDS, ABOUT(name)), ...(name === "beta" ? ["--era-2026"] : [])),
  );
  mkdirSync(folder.path("mine/refunds"), { recursive: true });
  writeFileSync(folder.path("mine/refunds/SKILL.md"), skillText("refunds", ABOUT("skills")));
  folder.write(".mcp.json", JSON.stringify({ skills: ["mine"], mcpServers: { alpha, beta, gamma } }));
  return folder;
}

const textIn = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join("");

/** How a model or a host reads a skill there. */
const READERS: Record<string, (driver: Driver, uri: string) => Promise<string>> = {
  async aggregate(driver, uri) {
    const { result } = await driver.request("resources/read", { uri });
    return (result?.["contents"] as { text: string }[])[0]?.text ?? "";
  },
  async meta(driver, uri) {
    const args = { server: "metamcp", tool: "read", args: { uri } };
    return textIn((await driver.request("tools/call", { name: "mcp_call", arguments: args })).result);
  },
  async metatools(driver, uri) {
    const args = { tool_id: "metamcp:read", args: { uri } };
    return textIn((await driver.request("tools/call", { name: "run_tool", arguments: args })).result);
  },
};
READERS["auto"] = READERS["aggregate"] as never;

const WAYS = Object.keys(READERS).flatMap((surface) => CLIENTS.map((client) => [surface, client] as const));

test.each(WAYS)(
  "on %s a client on %s reads each of them, and none in place of another",
  async (surface, kind) => {
    const driver = await open(kind, four(), {}, ["--surface", surface]);
    const read = READERS[surface] as (typeof READERS)[string];
    for (const owner of OWNERS) {
      const text = await read(driver, `skill://${owner}/refunds/SKILL.md`);
      expect([owner, digestOf(text)]).toEqual([owner, digestOf(skillText("refunds", ABOUT(owner)))]);
    }
    if (surface === "aggregate" || surface === "auto") {
      const { result } = await driver.request("skills/list", {});
      const listed = (
        result?.["skills"] as { uri: string; resources: { uri: string; digest: string }[] }[]
      ).map(({ uri, resources }) => [uri, resources.find((file) => file.uri === uri)?.digest]);
      expect(listed).toEqual(
        OWNERS.map((owner) => [
          `skill://${owner}/refunds/SKILL.md`,
          digestOf(skillText("refunds", ABOUT(owner))),
        ]),
      );
    }
    await driver.close();
  },
);
