/**
 * Imports the servers of an `.mcp.json`: creates new ones and updates those of the same name. Warns about
 * keys that it ignores.
 */
import { SERVER_KEYS } from "../config/keys.ts";
import { fieldsWhere } from "../config/server-fields.ts";
import { below, type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isRecord } from "../kernel/is-record.ts";
import { atOnce, type Steps } from "../kernel/steps.ts";
import { accepting } from "./accept.ts";
import { knownIn } from "./changes.ts";
import { depthProblems } from "./depth.ts";
import { MAX_PROBLEMS } from "./document/read-document.ts";
import { afterApi, BY_API, managed } from "./managed.ts";
import { finderOf } from "./names.ts";
import type { Objects } from "./objects.ts";
import { present } from "./present.ts";
import { invalid } from "./refusal.ts";
import {
  type ChangeContext,
  type ChangeOutcome,
  type Draft,
  differences,
  draftsOf,
  settling,
} from "./settle.ts";

export interface ImportOutcome extends ChangeOutcome {
  /** Names. */
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly warnings: readonly string[];
}

/** Fields whose values an update keeps, because the files of clients do not have them. */
const KEPT: readonly string[] = fieldsWhere(({ kept }) => kept);

type Importing = readonly [
  objects: Objects,
  input: unknown,
  context: ChangeContext,
  options?: { addOnly?: boolean; takeOver?: boolean },
];

/** With `addOnly` existing servers stay as they are. */
export function importServers(...given: Importing): ImportOutcome {
  return atOnce(importingServers(...given));
}

/** Pauses between servers. */
export function* importingServers(
  ...[objects, input, context, { addOnly = false, takeOver = false } = {}]: Importing
): Steps<ImportOutcome> {
  const drafts = draftsOf(objects);
  const find = finderOf(objects.server);
  const problems: FieldProblem[] = [];
  const warnings: string[] = [];
  if (isRecord(input) && input["middleware"] !== undefined)
    warnings.push(
      "middleware: not imported, because it does not belong to a server; set it on an endpoint or the gateway",
    );
  for (const [name, entry] of entriesOf(input)) {
    yield;
    const stored = find(name);
    if (stored && addOnly) continue;
    const own = stored ? pick(present(stored), KEPT) : {};
    const fields = { ...own, ...known(name, entry, warnings), name: stored?.name ?? name };
    const accepted = yield* accepting(
      "server",
      isRecord(entry) ? fields : entry,
      { ...knownIn(objects), stored },
      context,
    );
    if (!("spec" in accepted)) {
      problems.push(...below(pointer("", "mcpServers", name), accepted));
      if (problems.length >= MAX_PROBLEMS) break;
      continue;
    }
    const draft: Draft = stored
      ? { ...stored, ...accepted }
      : { kind: "server", uuid: context.newId(), ...accepted, ...BY_API };
    if (stored && differences(stored, draft).length > 0)
      drafts.set(draft.uuid, managed(draft, afterApi(stored, takeOver)));
    else if (!stored) drafts.set(draft.uuid, draft);
  }
  if (problems.length > 0) throw invalid(problems);
  const outcome = yield* settling(objects, drafts, context);
  const named = (op: string): string[] => outcome.changes.flatMap((row) => (row.op === op ? [row.name] : []));
  return { ...outcome, created: named("create"), updated: named("update"), warnings };
}

function entriesOf(input: unknown): readonly (readonly [string, unknown])[] {
  const tooDeep = depthProblems(input);
  if (tooDeep.length > 0) throw invalid(tooDeep);
  const servers = isRecord(input) ? input["mcpServers"] : undefined;
  if (!isRecord(servers))
    throw invalid([{ path: "/mcpServers", message: 'must be an object, { "name": { … } }' }]);
  return Object.entries(servers);
}

/** The entry without keys that only other clients use. */
function known(name: string, entry: unknown, warnings: string[]): Readonly<Record<string, unknown>> {
  if (!isRecord(entry)) return {};
  const keys = Object.keys(entry).filter((key) => SERVER_KEYS.includes(key) || KEPT.includes(key));
  const foreign = Object.keys(entry).filter((key) => !keys.includes(key));
  if (foreign.length > 0) warnings.push(`${name}: ignored ${foreign.join(", ")}`);
  return pick(entry, keys);
}

function pick(fields: Readonly<Record<string, unknown>>, keys: readonly string[]) {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(fields, key) ? [[key, fields[key]]] : [])));
}
