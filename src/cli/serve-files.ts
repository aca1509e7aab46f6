/** Applies the files of `--import` and `--apply` when a gateway starts, both in one revision or none. */
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { parseText } from "../config/parse.ts";
import { SKILLS_SERVER, skillsEntry } from "../config/skill-folders.ts";
import { create } from "../gateway/changes.ts";
import type { GatewayControl } from "../gateway/control.ts";
import { applyDocument } from "../gateway/document/apply.ts";
import { readText, type TextDocument } from "../gateway/document/yaml.ts";
import { importIntoDefault } from "../gateway/import-default.ts";
import { freeName, runsSame } from "../gateway/join-server.ts";
import { Refusal } from "../gateway/refusal.ts";
import { type ChangeOutcome, changesBetween } from "../gateway/settle.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Log } from "../kernel/log.ts";

const ACTOR = { kind: "local", id: "start", name: "metamcp serve" };

interface StartFile {
  readonly path: string;
  readonly value: unknown;
}

export interface StartFiles {
  readonly imported: StartFile | undefined;
  readonly applied: (StartFile & Pick<TextDocument, "problemText">) | undefined;
}

/** Rejects with path, line and column if a file cannot be parsed. */
export async function readStartFiles(paths: {
  readonly import: string | undefined;
  readonly apply: string | undefined;
}): Promise<StartFiles> {
  return {
    imported: paths.import === undefined ? undefined : await readConfig(paths.import),
    applied: paths.apply === undefined ? undefined : await readDocument(paths.apply),
  };
}

export async function applyStartFiles(
  control: GatewayControl,
  { imported, applied }: StartFiles,
  log: Log,
): Promise<void> {
  if (!imported && !applied) return;
  let warnings: readonly string[] = [];
  const paths = [imported, applied].flatMap((file) => file?.path ?? []).join(" and ");
  await control.change(
    ACTOR,
    (objects, context): ChangeOutcome => {
      let next = objects;
      if (imported) {
        const { path, value } = imported;
        const result = withPath(path, () => importIntoDefault(next, value, context));
        next = result.objects;
        warnings = result.warnings;
      }
      if (applied) {
        const { path, value, problemText } = applied;
        const apply = () => applyDocument(next, value, { source: basename(path) }, context).objects;
        next = withPath(path, apply, problemText);
      }
      const changes = changesBetween(objects, next);
      return { objects: changes.length === 0 ? objects : next, changes };
    },
    { summary: `take ${paths} at start` },
  );
  for (const warning of warnings) log.warn(`${imported?.path}: ${warning}`);
}

/** The server of `--skills-dir`. One that serves these folders under another name stays the only one. */
export async function addSkillsServer(control: GatewayControl): Promise<void> {
  const entry = skillsEntry();
  await control.change(
    ACTOR,
    (objects, context): ChangeOutcome => {
      if ([...objects.server.values()].some((server) => runsSame(server, entry)))
        return { objects, changes: [] };
      const name = freeName(objects, SKILLS_SERVER);
      const description = "The skills in the folders of --skills-dir";
      const { objects: next } = create(objects, "server", { ...entry, name, description }, context);
      return { objects: next, changes: changesBetween(objects, next) };
    },
    { summary: "serve the folders of --skills-dir" },
  );
}

async function readConfig(path: string): Promise<StartFile> {
  const parsed = await parseText(await read(path));
  if ("value" in parsed) return { path, value: inFolder(parsed.value, dirname(resolve(path))) };
  throw new Error(`${path}, line ${parsed.at.line}, column ${parsed.at.column}: ${parsed.fault}`);
}

/** Sets `cwd` of local servers to the folder of the file, because the gateway does not store that folder. */
function inFolder(value: unknown, folder: string): unknown {
  if (!isRecord(value) || !isRecord(value["mcpServers"])) return value;
  const entries = Object.entries(value["mcpServers"]).map(([name, entry]) => {
    if (!isRecord(entry) || typeof entry["command"] !== "string") return [name, entry];
    const { cwd = folder } = entry;
    // A path that starts with a variable or `~` is resolved later.
    const known = typeof cwd === "string" && !cwd.startsWith("$") && !cwd.startsWith("~");
    return [name, { ...entry, cwd: known ? resolve(folder, cwd) : cwd }];
  });
  return { ...value, mcpServers: Object.fromEntries(entries) as object };
}

async function readDocument(path: string): Promise<NonNullable<StartFiles["applied"]>> {
  const text = await read(path);
  try {
    return { path, ...(await readText(text)) };
  } catch (error) {
    throw inFile(path, error);
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Adds the path to the errors of `make`. `problemText` adds the lines of invalid fields. */
function withPath<T>(path: string, make: () => T, problemText?: TextDocument["problemText"]): T {
  try {
    return make();
  } catch (error) {
    throw inFile(path, error, problemText);
  }
}

function inFile(path: string, error: unknown, problemText?: TextDocument["problemText"]): unknown {
  if (!(error instanceof Refusal)) return error;
  const faults =
    problemText && error.code === "invalid" ? problemText(error.details.errors ?? []) : error.message;
  return new Error(`${path}: ${faults}`, { cause: error });
}
