/** Reads the skills below folders: their frontmatter, and the digest of every file. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { isRecord } from "../../kernel/is-record.ts";
import {
  isSkillName,
  MAX_FILES,
  MAX_SKILL_BYTES,
  SKILL_FILE,
  SKILL_SCHEME,
} from "../../kernel/skill-rules.ts";
import { visible } from "../../kernel/visible.ts";
import { readWithin } from "./open-file.ts";
import { type FoundFile, stampOf, walk } from "./walk.ts";

export interface ReadFile {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
  /** The real path of the configured folder, and the path of the file. */
  readonly root: string;
  readonly path: string;
}

export interface ReadSkill {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly files: readonly ReadFile[];
}

export interface ReadSkills {
  readonly skills: ReadonlyMap<string, ReadSkill>;
  readonly files: ReadonlyMap<string, ReadFile>;
  /** What is left out, and why. */
  readonly problems: readonly string[];
  /** The same while nothing changed on the disk. */
  readonly stamp: string;
}

const MOST_SKILLS = 2_000;
const MAX_FRONTMATTER = 65_536;

interface Root {
  readonly folder: string;
  /** Undefined if the folder cannot be read. */
  readonly real: string | undefined;
  readonly files: readonly FoundFile[];
}

/** What is on the disk, without reading any file. */
export interface Survey {
  readonly roots: readonly Root[];
  readonly problems: readonly string[];
  readonly stamp: string;
}

export async function survey(folders: readonly string[]): Promise<Survey> {
  const problems: string[] = [];
  const roots: Root[] = [];
  for (const folder of folders) {
    try {
      const real = await realpath(folder);
      roots.push({ folder, real, files: await walk(real, (problem) => problems.push(visible(problem))) });
    } catch (error) {
      problems.push(`${visible(folder)} cannot be read: ${visible((error as Error).message)}`);
      roots.push({ folder, real: undefined, files: [] });
    }
  }
  const seen = roots.map(({ real, files }) => [real, files.map(({ name, stats }) => [name, stampOf(stats)])]);
  return { roots, problems, stamp: createHash("sha256").update(JSON.stringify(seen)).digest("hex") };
}

/** Digests by file and stamp, so that a file is read again only if it changed. */
export type Digests = Map<string, { readonly stamp: string; readonly digest: string }>;

export async function readSkills(found: Survey, digests: Digests): Promise<ReadSkills> {
  const problems = [...found.problems];
  const skills = new Map<string, ReadSkill>();
  const files = new Map<string, ReadFile>();
  for (const { real, folder, files: listed } of found.roots) {
    if (real === undefined) continue;
    for (const { name } of listed.filter((file) => posix.basename(file.name) === SKILL_FILE)) {
      try {
        const skill = await readSkill({ real, folder, listed, name }, skills, digests);
        if (skills.size >= MOST_SKILLS) throw new Error(`there are more than ${MOST_SKILLS} skills`);
        skills.set(skill.uri, skill);
        for (const file of skill.files) files.set(file.uri, file);
      } catch (error) {
        problems.push(`${visible(join(folder, name))} is left out: ${visible((error as Error).message)}`);
      }
    }
  }
  return { skills, files, problems, stamp: found.stamp };
}

interface Place {
  readonly real: string;
  readonly folder: string;
  readonly listed: readonly FoundFile[];
  /** Of the SKILL.md. */
  readonly name: string;
}

async function readSkill(
  { real, folder, listed, name }: Place,
  others: ReadonlyMap<string, ReadSkill>,
  digests: Digests,
): Promise<ReadSkill> {
  const inside = name.slice(0, -SKILL_FILE.length);
  const own = listed.filter((file) => file.name.startsWith(inside));
  if (own.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
  const bytes = own.reduce((sum, { stats }) => sum + stats.size, 0);
  if (bytes > MAX_SKILL_BYTES) throw new Error(`its files have more than ${MAX_SKILL_BYTES} bytes`);
  const text = (await readWithin(real, join(real, name), MAX_SKILL_BYTES)).toString();
  const frontmatter = await frontmatterOf(text);
  const path = inside === "" ? basename(real) : inside.slice(0, -1);
  if (frontmatter["name"] !== posix.basename(path))
    throw new Error(`its name must be that of its folder, ${posix.basename(path)}`);
  // The same path in two folders: the later one gets the name of its folder before it.
  const plain = addressOf(path);
  const at = others.has(`${plain}/${SKILL_FILE}`) ? addressOf(`${basename(folder)}/${path}`) : plain;
  const uri = `${at}/${SKILL_FILE}`;
  if (others.has(uri)) throw new Error(`another skill has its address ${uri}`);
  const files: ReadFile[] = [];
  for (const { name: file, stats } of own) {
    const where = join(real, file);
    const stamp = stampOf(stats);
    let known = digests.get(where);
    if (known?.stamp !== stamp) {
      known = { stamp, digest: digestOf(await readWithin(real, where, MAX_SKILL_BYTES)) };
      digests.set(where, known);
    }
    files.push({
      uri: `${at}/${encoded(file.slice(inside.length))}`,
      digest: known.digest,
      size: stats.size,
      root: real,
      path: where,
    });
  }
  return { uri, frontmatter, files };
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

const addressOf = (path: string): string => SKILL_SCHEME + encoded(path);
/** Only what an address cannot contain. */
const encoded = (path: string): string => path.replaceAll(/[\s%?#]/g, encodeURIComponent);

/** Throws if it is missing or lacks what every skill has. */
async function frontmatterOf(text: string): Promise<Readonly<Record<string, unknown>>> {
  const written = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)?.[1];
  if (written === undefined || written.length > MAX_FRONTMATTER)
    throw new Error(`it does not begin with frontmatter of at most ${MAX_FRONTMATTER} characters`);
  const { parse } = await import("yaml");
  // Without aliases, a short text cannot become a large value.
  const parsed: unknown = parse(written, { maxAliasCount: 0, logLevel: "error", schema: "core" });
  if (!isRecord(parsed)) throw new Error("its frontmatter is no object");
  const { name, description } = parsed;
  if (!isSkillName(name)) throw new Error("its name is not lower case letters, digits and hyphens");
  if (typeof description !== "string" || description.trim() === "")
    throw new Error("its description is missing");
  return parsed;
}
