/**
 * Skills of the extension `io.modelcontextprotocol/skills`: reads the entries that children list, and refuses
 * those that a host must not load. Changes no frontmatter and no digest.
 */
import type { ServerId } from "../kernel/call.ts";
import { isRecord } from "../kernel/is-record.ts";
import { perObject } from "../kernel/per-object.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import {
  isSkillName,
  MAX_FILES,
  MAX_SKILL_BYTES,
  SKILL_FILE,
  SKILLS_EXTENSION,
} from "../kernel/skill-rules.ts";
import { entries, isObject, joinObject, member } from "../rpc/slice.ts";
import type { Note } from "./repair-rules.ts";

/** In `About.offers`: the child serves skills, and lists the children of folders. */
export const SKILLS_OFFER = "skills";
export const FOLDERS_OFFER = "skills/folders";

/** Ours, for what a child lists: one entry, and all of them. */
const MAX_ENTRY_BYTES = 1_048_576;
export const MOST_SKILLS = { entries: 2_000, bytes: 16_777_216 } as const;
const LONGEST_URI = 2_048;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Without blanks, control characters, queries and fragments. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/[^\s\p{C}\\?#]+$/iu;

/** A skill in the list of a child. `name` is its URI. */
interface Listed {
  readonly server: ServerId;
  readonly name: string;
  readonly definition: Raw;
}

export interface SkillFile {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Undefined if the content is generated, so that there are no digests. */
  readonly files: readonly SkillFile[] | undefined;
}

/** What an entry says that `readSkill` has accepted. */
export function skillOf({ definition }: Pick<Listed, "definition">): Skill {
  return skillIn(definition);
}

const skillIn = perObject((definition: Raw): Skill => {
  const { frontmatter, resources } = fromRaw(definition) as {
    frontmatter: { name: string; description: string };
    resources: unknown;
  };
  const { name, description } = frontmatter;
  const files = Array.isArray(resources) ? (resources as readonly SkillFile[]) : undefined;
  return { name, description, files };
});

/** Undefined for an entry that cannot be used; `note` gets the reason. */
export function readSkill(server: ServerId, written: Raw, note: Note = () => {}): Listed | undefined {
  try {
    return { server, ...readEntry(written) };
  } catch (error) {
    if (!(error instanceof InvalidSkill)) throw error;
    note(error.message);
    return undefined;
  }
}

class InvalidSkill extends Error {}

function readEntry(written: Raw): Omit<Listed, "server"> {
  if (!isObject(written)) throw new InvalidSkill("the entry is no object");
  if (written.length > MAX_ENTRY_BYTES)
    throw new InvalidSkill(`the entry has more than ${MAX_ENTRY_BYTES} bytes`);
  // Of a repeated member the last one counts, as for every JSON parser.
  const parts = new Map(entries(written));
  const { uri, frontmatter, resources } = fromRaw(joinObject([...parts])) as Record<string, unknown>;
  const folder = folderOf(uri);
  checkFrontmatter(frontmatter, folder);
  const files = resources === "dynamic" ? resources : readFiles(resources, folder);
  parts.set("uri", toRaw(uri)).set("resources", toRaw(files));
  return { name: uri as string, definition: joinObject([...parts]) };
}

/** The folder of the skill, with the slash at its end. */
function folderOf(uri: unknown): string {
  if (!isSafeUri(uri)) throw new InvalidSkill("uri is not a plain address");
  if (!uri.endsWith(`/${SKILL_FILE}`)) throw new InvalidSkill(`uri does not end with /${SKILL_FILE}`);
  return uri.slice(0, -SKILL_FILE.length);
}

function checkFrontmatter(frontmatter: unknown, folder: string): void {
  if (!isRecord(frontmatter)) throw new InvalidSkill("frontmatter is missing");
  const { name, description } = frontmatter;
  if (!isSkillName(name))
    throw new InvalidSkill("frontmatter.name is not lower case letters, digits and hyphens");
  if (typeof description !== "string" || description.trim() === "")
    throw new InvalidSkill("frontmatter.description is missing");
  if (!folder.endsWith(`/${name}/`)) throw new InvalidSkill(`uri does not end with ${name}/${SKILL_FILE}`);
}

function readFiles(resources: unknown, folder: string): readonly SkillFile[] {
  if (!Array.isArray(resources)) throw new InvalidSkill('resources is neither a list nor "dynamic"');
  if (resources.length > MAX_FILES) throw new InvalidSkill(`it has more than ${MAX_FILES} files`);
  const files = resources.map((file) => readFile(file, folder));
  const uris = new Set(files.map(({ uri }) => uri));
  if (uris.size < files.length) throw new InvalidSkill("resources has a file twice");
  if (!uris.has(`${folder}${SKILL_FILE}`)) throw new InvalidSkill(`resources has no ${SKILL_FILE}`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_SKILL_BYTES) throw new InvalidSkill(`its files have more than ${MAX_SKILL_BYTES} bytes`);
  return files;
}

function readFile(file: unknown, folder: string): SkillFile {
  const { uri, digest, size } = isRecord(file) ? file : {};
  if (!isSafeUri(uri) || !uri.startsWith(folder))
    throw new InvalidSkill("resources has a file outside of the skill");
  if (typeof digest !== "string" || !DIGEST.test(digest))
    throw new InvalidSkill("resources has a file without a SHA-256 digest");
  if (!Number.isSafeInteger(size) || (size as number) < 0)
    throw new InvalidSkill("resources has a file without its size");
  return { uri, digest, size: size as number };
}

/** Whether no part of the path can lead out of its folder, also after decoding. */
export function isSafeUri(uri: unknown): uri is string {
  if (typeof uri !== "string" || uri.length > LONGEST_URI || !URI.test(uri)) return false;
  const [, path = ""] = uri.split("://", 2);
  // The first part, the authority, may be empty.
  return path.split("/").every((part, at) => isSafePart(part) || (at === 0 && part === ""));
}

function isSafePart(part: string): boolean {
  try {
    const decoded = decodeURIComponent(part);
    return decoded !== "" && decoded !== "." && decoded !== ".." && !/[/\\\p{Cc}]/u.test(decoded);
  } catch {
    return false;
  }
}

/** The capabilities of a child say that it serves skills, and whether it lists folders too. */
export function declaredSkills(capabilities: Raw): { readonly folders: boolean } | undefined {
  const extensions = isObject(capabilities) ? member(capabilities, "extensions") : undefined;
  const settings = extensions && isObject(extensions) ? member(extensions, SKILLS_EXTENSION) : undefined;
  if (!settings || !isObject(settings)) return undefined;
  return { folders: member(settings, "directoryRead")?.toString() === "true" };
}

/** The direct children of a folder, of all files that the skills of one server have. */
export function childrenOf(
  folder: string,
  skills: readonly Listed[],
): readonly { readonly uri: string; readonly size?: number }[] {
  const found = new Map<string, { uri: string; size?: number }>();
  const within = `${folder}/`;
  for (const { uri, size } of skills.flatMap((skill) => skillOf(skill).files ?? [])) {
    if (!uri.startsWith(within)) continue;
    const end = uri.indexOf("/", within.length);
    const child = end < 0 ? uri : uri.slice(0, end);
    found.set(child, end < 0 ? { uri: child, size } : { uri: child });
  }
  return [...found.values()];
}
