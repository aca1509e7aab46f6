/** The files that a gateway is started with: `--import` and `--apply`. Both are taken as one revision, or neither. */
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { parseText } from "../config/parse.ts";
import type { GatewayControl } from "../gateway/control.ts";
import { applyDocument } from "../gateway/document/apply.ts";
import { readText, type TextDocument } from "../gateway/document/yaml.ts";
import { importIntoDefault } from "../gateway/import-default.ts";
import { Refusal } from "../gateway/refusal.ts";
import { type ChangeOutcome, changesBetween } from "../gateway/settle.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Log } from "../kernel/log.ts";

const ACTOR = { kind: "local", id: "start", name: "metamcp serve" };

interface Given {
  readonly path: string;
  readonly value: unknown;
}

export interface GivenFiles {
  readonly imported: Given | undefined;
  readonly applied: (Given & Pick<TextDocument, "told">) | undefined;
}

/** Rejects with the place where a file cannot be read. */
export async function givenFiles(paths: {
  readonly import: string | undefined;
  readonly apply: string | undefined;
}): Promise<GivenFiles> {
  return {
    imported: paths.import === undefined ? undefined : await readConfig(paths.import),
    applied: paths.apply === undefined ? undefined : await readDocument(paths.apply),
  };
}

export async function takeFiles(
  control: GatewayControl,
  { imported, applied }: GivenFiles,
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
        const taken = named(path, () => importIntoDefault(next, value, context));
        next = taken.objects;
        warnings = taken.warnings;
      }
      if (applied) {
        const { path, value, told } = applied;
        const apply = () => applyDocument(next, value, { source: basename(path) }, context).objects;
        next = named(path, apply, told);
      }
      const changes = changesBetween(objects, next);
      return { objects: changes.length === 0 ? objects : next, changes };
    },
    { summary: `take ${paths} at start` },
  );
  for (const warning of warnings) log.warn(`${imported?.path}: ${warning}`);
}

async function readConfig(path: string): Promise<Given> {
  const parsed = await parseText(await read(path));
  if ("value" in parsed) return { path, value: inFolder(parsed.value, dirname(resolve(path))) };
  throw new Error(`${path}, line ${parsed.at.line}, column ${parsed.at.column}: ${parsed.fault}`);
}

/** An entry of a file runs in the folder of that file, which a gateway would not know any more. */
function inFolder(value: unknown, folder: string): unknown {
  if (!isRecord(value) || !isRecord(value["mcpServers"])) return value;
  const entries = Object.entries(value["mcpServers"]).map(([name, entry]) => {
    if (!isRecord(entry) || typeof entry["command"] !== "string") return [name, entry];
    const { cwd = folder } = entry;
    // A variable may turn out to be anything; it is resolved where it is known.
    const known = typeof cwd === "string" && !cwd.startsWith("$") && !cwd.startsWith("~");
    return [name, { ...entry, cwd: known ? resolve(folder, cwd) : cwd }];
  });
  return { ...value, mcpServers: Object.fromEntries(entries) as object };
}

async function readDocument(path: string): Promise<NonNullable<GivenFiles["applied"]>> {
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

/** `told`: says where in the file the faults are. */
function named<T>(path: string, make: () => T, told?: TextDocument["told"]): T {
  try {
    return make();
  } catch (error) {
    throw inFile(path, error, told);
  }
}

function inFile(path: string, error: unknown, told?: TextDocument["told"]): unknown {
  if (!(error instanceof Refusal)) return error;
  const faults = told && error.code === "invalid" ? told(error.details.errors ?? []) : error.message;
  return new Error(`${path}: ${faults}`, { cause: error });
}
