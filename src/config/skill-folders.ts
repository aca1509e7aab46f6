/**
 * The command `metamcp skills FOLDER…`: folders of skills that MetaMCP serves itself, without a process. In a
 * gateway the folders are those of `--skills-dir`.
 */
import { isAbsolute, resolve } from "node:path";
import { type Env, expandTilde } from "../home/home.ts";
import type { Findings, Keys } from "./field.ts";
import { kindOf } from "./field.ts";
import type { ServerSpec } from "./spec.ts";

/** The name of the server for the key `skills` of a config file. */
export const SKILLS_SERVER = "skills";
const [COMMAND, WORD] = ["metamcp", "skills"];

/** The entry that serves the folders; without folders those of the gateway. */
export function skillsEntry(folders: readonly string[] = []): Keys {
  return { command: COMMAND, args: [WORD, ...folders] };
}

interface FolderContext {
  readonly env: Env;
  readonly skillFolders?: readonly string[] | undefined;
}

/** Undefined if the server is a process. */
export function skillFoldersOf(
  spec: ServerSpec,
  { env, skillFolders }: FolderContext,
  findings: Findings,
): readonly string[] | undefined {
  if (spec.kind !== "stdio" || spec.command !== COMMAND || spec.args[0] !== WORD) return undefined;
  const written = spec.args.slice(1);
  if (skillFolders) {
    if (written.length > 0)
      findings.fault(["args"], "the folders of a gateway's skills come from --skills-dir: remove them here");
    else if (skillFolders.length === 0)
      findings.fault([], "this gateway serves no skills: start it with --skills-dir FOLDER");
    return skillFolders;
  }
  if (written.length === 0) findings.fault(["args"], "name the folders of the skills after skills");
  return written.map((folder) => {
    const path = expandTilde(folder, env);
    return isAbsolute(path) ? path : resolve(spec.cwd, path);
  });
}

/** The key `skills` as an entry of a server. Undefined without it. */
export function skillsIn({ skills }: Keys, findings: Findings): Keys | undefined {
  if (skills === undefined) return undefined;
  if (Array.isArray(skills) && skills.length > 0 && skills.every((one) => typeof one === "string"))
    // Nothing runs that could be confined.
    return { ...skillsEntry(skills as readonly string[]), sandbox: false };
  return findings.warn(
    `skills is ${Array.isArray(skills) ? "empty or has other values" : kindOf(skills)} and ignored: write a list of folders`,
  );
}
