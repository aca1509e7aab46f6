/** Servers and folders with skills for tests. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Temp } from "./temp.ts";

const CHILD = fileURLToPath(new URL("../fixture/skills-child.mjs", import.meta.url));

export interface SkillEntry {
  readonly uri: string;
  readonly frontmatter: { readonly name: string; readonly description: string };
  readonly resources: readonly { uri: string; digest: string; size: number }[] | "dynamic";
}

export const digestOf = (text: string | Buffer): string =>
  `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** The text of a SKILL.md. */
export const skillText = (name: string, description: string): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${description}\n`;

/** The entry of the skill at that URI, whose files are given by URI. */
export function entryOf(
  uri: string,
  files: Readonly<Record<string, string>>,
  description: string,
): SkillEntry {
  const name = uri.split("/").at(-2) ?? "";
  const folder = uri.slice(0, -"SKILL.md".length);
  const own = Object.entries(files).filter(([one]) => one.startsWith(folder));
  return {
    uri,
    frontmatter: { name, description },
    resources: own.map(([one, text]) => ({
      uri: one,
      digest: digestOf(text),
      size: Buffer.byteLength(text),
    })),
  };
}

export interface SkillContent {
  readonly skills?: readonly unknown[];
  readonly files?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** Writes the content of the server, which may run. */
export function writeSkills(folder: Temp, name: string, content: SkillContent): void {
  folder.write(`${name}.json`, JSON.stringify({ skills: [], files: {}, ...content }));
}

/** The entry of a server in a config. */
export function skillServer(
  folder: Temp,
  name: string,
  content: SkillContent,
  ...flags: string[]
): { command: string; args: string[] } {
  writeSkills(folder, name, content);
  const args = ["--content", folder.path(`${name}.json`), "--journal", folder.path(`${name}.log`)];
  return { command: process.execPath, args: [CHILD, ...args, ...flags] };
}

/** A skill with one more file, as content of a server. */
export function oneSkill(uri: string, description: string): Required<Pick<SkillContent, "skills" | "files">> {
  const name = uri.split("/").at(-2) ?? "";
  const files = {
    [uri]: skillText(name, description),
    [uri.replace(/SKILL\.md$/, "references/GUIDE.md")]: `The guide of ${description}. äöü\n`,
  };
  return { skills: [entryOf(uri, files, description)], files };
}
