/**
 * The envelope: `_meta` members that a child of the stateless era gets with every request (version, MetaMCP
 * itself, capabilities of the client).
 */
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import { ERA_2026_VERSION, META } from "../../rpc/era-2026/names.ts";
import { declaringTasks } from "../../rpc/era-2026/task-form.ts";
import { entries, isObject, joinObject, members, withMember } from "../../rpc/slice.ts";

const PREFIX = Buffer.from("io.modelcontextprotocol");
const OPEN = Buffer.from("{");
const COMMA = Buffer.from(",");
const ENVELOPE_KEYS: ReadonlySet<string> = new Set([META.version, META.client, META.capabilities]);

/**
 * The envelope for these capabilities, as JSON text without the braces. With `tasks` the child may answer
 * with a task.
 */
export function envelopeOf(capabilities: Raw, tasks = false): Buffer {
  return joinObject([
    [META.version, toRaw(ERA_2026_VERSION)],
    [META.client, toRaw(IMPLEMENTATION)],
    [META.capabilities, declaringTasks(capabilities, tasks)],
  ]).subarray(1, -1);
}

/** Adds the envelope to the params. `logLevel` is used if the params contain none. */
export function enclose(params: Raw | undefined, envelope: Buffer, logLevel?: string): Raw {
  const [meta] = params ? members(params, ["_meta"]) : [];
  let rest = meta && isObject(meta) ? otherMembers(meta) : EMPTY;
  if (logLevel !== undefined && !rest.includes(META.logLevel)) {
    const level = joinObject([[META.logLevel, toRaw(logLevel)]]).subarray(1, -1);
    rest = rest.length === 0 ? level : Buffer.concat([rest, COMMA, level]);
  }
  const written = asRaw(
    Buffer.concat(rest.length === 0 ? [OPEN, envelope, CLOSE] : [OPEN, envelope, COMMA, rest, CLOSE]),
  );
  return params ? withMember(params, "_meta", written) : joinObject([["_meta", written]]);
}

const EMPTY = Buffer.alloc(0);
const CLOSE = Buffer.from("}");

/** The members of `_meta` without the braces, and without those that the envelope sets. */
function otherMembers(meta: Raw): Buffer {
  const kept = meta.includes(PREFIX)
    ? joinObject(entries(meta).filter(([key]) => !ENVELOPE_KEYS.has(key)))
    : meta;
  const text = kept.subarray(kept.indexOf(0x7b) + 1, kept.lastIndexOf(0x7d));
  return text.some((byte) => byte > 0x20) ? text : EMPTY;
}

/** The level in the params of `logging/setLevel`. */
export function levelIn(params: Raw | undefined): string | undefined {
  const [raw] = params ? members(params, ["level"]) : [];
  const level = raw && fromRaw(raw);
  return typeof level === "string" ? level : undefined;
}
