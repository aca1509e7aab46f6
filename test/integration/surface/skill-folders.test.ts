/** Folders of skills on disk, which MetaMCP serves itself. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { type Driver, open } from "../../support/eras.ts";
import { aggregate, listChanges } from "../../support/lists.ts";
import { digestOf, oneSkill, type SkillEntry, skillServer, skillText } from "../../support/skills.ts";
import { type Temp, temp } from "../../support/temp.ts";

function put(folder: Temp, path: string, content: string | Buffer): void {
  mkdirSync(dirname(folder.path(path)), { recursive: true });
  writeFileSync(folder.path(path), content);
}

function putSkill(folder: Temp, path: string, description = `About ${path}`): string {
  const text = skillText(path.split("/").at(-1) ?? "", description);
  put(folder, `${path}/SKILL.md`, text);
  return text;
}

const read = async (driver: Driver, uri: string) => {
  const { result, error } = await driver.request("resources/read", { uri });
  return {
    ...(result?.["contents"] as { uri: string; text?: string; blob?: string }[] | undefined)?.[0],
    error,
  };
};

const skillsOf = async (driver: Driver) =>
  (await driver.request("skills/list", {})).result?.["skills"] as readonly SkillEntry[];

const aggregateOf = (folder: Temp): Promise<Driver> =>
  open("2026 stdio", folder, {}, ["--surface", "aggregate"]);

test("two folders and a server with equal names stand side by side, with the bytes of the disk", async () => {
  const folder = temp();
  const text = putSkill(folder, "mine/refunds", "Mine");
  put(folder, "mine/refunds/assets/logo.png", Buffer.from([0x89, 0x50, 0xff, 0x00, 0xfe]));
  put(folder, "mine/refunds/a name%.txt", "\uFEFFwith a mark\r\n");
  putSkill(folder, "mine/refunds/inner", "Nested");
  const other = putSkill(folder, "theirs/refunds", "Theirs");
  folder.write(
    ".mcp.json",
    JSON.stringify({
      skills: ["mine", folder.path("theirs")],
      mcpServers: { shop: skillServer(folder, "shop", oneSkill("skill://refunds/SKILL.md", "Shop")) },
    }),
  );
  const driver = await aggregateOf(folder);
  const skills = await skillsOf(driver);
  expect(skills.map(({ uri }) => uri)).toEqual([
    "skill://shop/refunds/SKILL.md",
    "skill://skills/refunds/SKILL.md",
    "skill://skills/refunds/inner/SKILL.md",
    "skill://skills/theirs/refunds/SKILL.md",
  ]);
  expect((await read(driver, "skill://skills/refunds/SKILL.md")).text).toBe(text);
  expect((await read(driver, "skill://skills/theirs/refunds/SKILL.md")).text).toBe(other);
  const files = skills[1]?.resources as { uri: string; digest: string; size: number }[];
  expect(files.map(({ uri }) => uri)).toEqual([
    "skill://skills/refunds/SKILL.md",
    "skill://skills/refunds/a%20name%25.txt",
    "skill://skills/refunds/assets/logo.png",
    "skill://skills/refunds/inner/SKILL.md",
  ]);
  for (const file of files) {
    const one = await read(driver, file.uri);
    const bytes = one.blob === undefined ? Buffer.from(one.text ?? "") : Buffer.from(one.blob, "base64");
    expect([digestOf(bytes), bytes.length]).toEqual([file.digest, file.size]);
  }
  await driver.close();
});

test("no link and no path leads out of the folder, and what is not a skill is not served", async () => {
  const folder = temp();
  put(folder, "secret/key.txt", "the secret");
  putSkill(folder, "secret/stolen");
  putSkill(folder, "mine/good");
  symlinkSync(folder.path("secret/key.txt"), folder.path("mine/good/key.txt"));
  symlinkSync(folder.path("secret"), folder.path("mine/good/more"));
  symlinkSync(folder.path("secret/stolen"), folder.path("mine/stolen"));
  put(folder, "mine/good/.hidden", "hidden");
  put(folder, "mine/plain.txt", "no skill");
  put(folder, "mine/wrong/SKILL.md", skillText("another", "A wrong name"));
  put(folder, "mine/bomb/SKILL.md", "---\nname: bomb\na: &a [1,1]\nb: &b [*a,*a]\ndescription: x\n---\n");
  put(folder, "mine/large/SKILL.md", skillText("large", "Too large"));
  put(folder, "mine/large/data.bin", Buffer.alloc(16_777_217));
  folder.write(".mcp.json", JSON.stringify({ skills: ["mine"] }));
  const client = aggregate(folder);
  await client.initialize();
  const { result } = await client.request("skills/list");
  expect(result?.["skills"]).toMatchObject([
    { uri: "skill://skills/good/SKILL.md", resources: [{ uri: "skill://skills/good/SKILL.md" }] },
  ]);
  for (const path of [
    "good/key.txt",
    "good/more/key.txt",
    "good/../../secret/key.txt",
    "good/%2e%2e/%2e%2e/secret/key.txt",
    "stolen/SKILL.md",
    "good/.hidden",
    "plain.txt",
    "../secret/key.txt",
  ]) {
    const { error } = await client.request("resources/read", { uri: `skill://skills/${path}` });
    expect(error?.code, path).toBe(-32602);
  }
  expect(client.stderr).toContain("is a link");
  expect(client.stderr).toContain("its name must be that of its folder, wrong");
  expect(client.stderr).toContain("its files have more than 16777216 bytes");
  await client.close();
});

test("changes on the disk are seen, and a file always has the digest of its entry", async () => {
  const folder = temp();
  putSkill(folder, "mine/good", "Before");
  folder.write(".mcp.json", JSON.stringify({ skills: ["mine"] }));
  const client = aggregate(folder);
  await client.initialize();
  await client.request("skills/list");
  const after = putSkill(folder, "mine/good", "After");
  const uri = "skill://skills/good/SKILL.md";
  const [file, entry] = await Promise.all([
    client.request("resources/read", { uri }),
    client.request("skills/get", { uri }),
  ]);
  expect(file.result).toMatchObject({ contents: [{ text: after }] });
  expect(entry.result).toMatchObject({ skill: { resources: [{ digest: digestOf(after) }] } });
  putSkill(folder, "mine/added");
  await client.until(() => listChanges(client).length > 0);
  // A folder that becomes a link is gone, and comes back with the folder.
  putSkill(folder, "elsewhere/good", "Elsewhere");
  renameSync(folder.path("mine/good"), folder.path("away"));
  symlinkSync(folder.path("elsewhere/good"), folder.path("mine/good"));
  expect((await client.request("resources/read", { uri })).error?.code).toBe(-32602);
  rmSync(folder.path("mine/good"));
  renameSync(folder.path("away"), folder.path("mine/good"));
  expect((await client.request("resources/read", { uri })).result).toMatchObject({
    contents: [{ text: after }],
  });
  await client.close();
});
