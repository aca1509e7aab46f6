/** What the extension `io.modelcontextprotocol/skills` and the Agent Skills specification fix. */

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
export const SKILL_SCHEME = "skill://";
/** The file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";
/** The type of a resource that is a folder. */
export const FOLDER_TYPE = "inode/directory";

/** Hosts need not load larger skills. */
export const MAX_FILES = 512;
export const MAX_SKILL_BYTES = 16_777_216;
const LONGEST_NAME = 64;

/** Lower case letters, digits and single hyphens. */
const NAME = /^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u;

export function isSkillName(name: unknown): name is string {
  return typeof name === "string" && name.length <= LONGEST_NAME && NAME.test(name);
}
