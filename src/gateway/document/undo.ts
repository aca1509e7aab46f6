/**
 * Undoes one revision alone: what it changed gets its earlier value, and what later revisions changed stays.
 * Refuses it if a later revision changed the same value.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../kernel/is-record.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { Objects, StoredObject } from "../objects.ts";
import { Refusal } from "../refusal.ts";
import {
  type ChangeContext,
  type ChangeOutcome,
  comparing,
  differences,
  draftsOf,
  settling,
} from "../settle.ts";

/** The config right before and right after the revision. */
export interface RevisionStates {
  readonly before: Objects;
  readonly after: Objects;
}

/** Pauses between objects. */
export function* undoing(
  objects: Objects,
  { before, after }: RevisionStates,
  context: ChangeContext,
): Steps<ChangeOutcome> {
  const drafts = draftsOf(objects);
  const clashes: string[] = [];
  for (const { kind, uuid, name } of yield* comparing(before, after)) {
    const of = (all: Objects): StoredObject | undefined => all[kind].get(uuid);
    const [old, made, now] = [of(before), of(after), of(objects)];
    const what = kind === "settings" ? "the settings" : `${kind} "${name}"`;
    if (!old) {
      if (now && made && differences(made, now).length > 0) clashes.push(`${what} was changed later`);
      drafts.delete(uuid);
    } else if (!made) {
      // It may be back already, from the history.
      if (now && differences(old, now).length > 0) clashes.push(`${what} was changed later`);
      drafts.set(uuid, old);
    } else if (!now) clashes.push(`${what} was deleted later`);
    else {
      const undone = undoneObject(now, made, old);
      drafts.set(uuid, undone.object);
      // Whoever may not read the settings learns of them only what the history shows: fields, no names in
      // them.
      const fields = undone.clashes.map((path) => (kind === "settings" ? path.replace(/\..*/s, "") : path));
      clashes.push(...new Set(fields.map((field) => `${field} of ${what} was changed later`)));
    }
    yield;
  }
  if (clashes.length > 0)
    throw new Refusal(
      "later_change",
      `This change cannot be undone alone: ${clashes.slice(0, 5).join("; ")}.`,
    );
  // As for a rollback: tools that servers list now must not prevent it.
  return yield* settling(objects, drafts, { ...context, listed: () => undefined });
}

/** The current object, with the fields of `made` back at their values in `old`. */
function undoneObject(now: StoredObject, made: StoredObject, old: StoredObject) {
  const clashes: string[] = [];
  const name = undone({ now: now.name, made: made.name, old: old.name }, "name", clashes);
  const spec = undone({ now: now.spec, made: made.spec, old: old.spec }, "", clashes);
  return { object: { ...now, name, spec } as StoredObject, clashes };
}

/** A value now, right after the revision, and right before it. */
interface Three<T> {
  readonly now: T;
  readonly made: T;
  readonly old: T;
}

/** One value, or its parts. Adds the paths where both changed it. */
function undone({ now, made, old }: Three<unknown>, path: string, clashes: string[]): unknown {
  if (isDeepStrictEqual(now, made)) return old;
  if (isDeepStrictEqual(made, old) || isDeepStrictEqual(now, old)) return now;
  if (isRecord(now) && isRecord(made) && isRecord(old) && !isSealed(now))
    return undoneParts({ now, made, old }, path, clashes);
  const [a, b, c] = path === "args" ? [] : [now, made, old].map(byIdentity);
  if (a && b && c) return Object.values(undoneParts({ now: a, made: b, old: c }, path, clashes));
  clashes.push(path);
  return now;
}

type Parts = Readonly<Record<string, unknown>>;

function undoneParts({ now, made, old }: Three<Parts>, path: string, clashes: string[]): Parts {
  const keys = new Set([...Object.keys(now), ...Object.keys(old)]);
  const all = [...keys].map((key) => {
    const inner = path === "" ? key : `${path}.${key}`;
    const [is, was, before] = [now, made, old].map((one) => (Object.hasOwn(one, key) ? one[key] : undefined));
    return [key, undone({ now: is, made: was, old: before }, inner, clashes)] as const;
  });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** An encrypted value has no parts. */
function isSealed(value: Parts): boolean {
  return "sealed" in value;
}

/**
 * A list whose entries can be told apart: texts, or the servers and tools of a namespace. Undefined for other
 * lists, such as layers, whose order counts. It counts for arguments of a command too.
 */
function byIdentity(list: unknown): Parts | undefined {
  if (!Array.isArray(list)) return undefined;
  const entries = list.map((item: unknown) => {
    // In quotes, because an object sorts keys that are numbers.
    if (typeof item === "string") return [JSON.stringify(item), item] as const;
    const { server, tool } = (isRecord(item) ? item : {}) as { server?: unknown; tool?: unknown };
    return typeof server === "string" ? ([JSON.stringify([server, tool]), item] as const) : undefined;
  });
  if (entries.includes(undefined)) return undefined;
  const found = entries as readonly (readonly [string, unknown])[];
  const keyed = Object.fromEntries(found);
  return Object.keys(keyed).length === found.length ? keyed : undefined;
}
