/**
 * Removes from a child's message the keys that only MetaMCP may set: those under `metamcp/` in each `_meta`,
 * and in the data of an error. Clients take them as the word of MetaMCP. Runs where messages of children come
 * in, before MetaMCP adds its own.
 */
import { asRaw, type Raw, toLatin1 } from "../kernel/raw.ts";
import type { Message } from "../rpc/message.ts";
import { SHORT } from "../rpc/short.ts";
import {
  eachMember,
  entries,
  isKey,
  isObject,
  joinObject,
  member,
  textAt,
  withMember,
} from "../rpc/slice.ts";
import { endOfString } from "../rpc/value-end.ts";

const PREFIX = "metamcp/";
const NAME = PREFIX.slice(0, -1);
/**
 * Such a key as it is written, or a part of an escaped letter of it. Without these the message is passed on
 * as it is. An expression, because a search for each of them stops at every first letter: a text of one
 * letter would take ten times as long.
 */
const SIGNS = /metamcp|u00[67]/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function withoutReservedKeys(message: Message): Message {
  switch (message.kind) {
    case "result": {
      const result = withoutReservedMeta(message.result);
      return result === message.result ? message : { ...message, result };
    }
    case "error": {
      const error = withoutReservedMeta(withoutReservedData(message.error));
      return error === message.error ? message : { ...message, error };
    }
    case "request":
    case "notification": {
      const params = message.params && withoutReservedMeta(message.params);
      return params === message.params ? message : { ...message, params };
    }
  }
}

function mayHaveReserved(raw: Raw): boolean {
  // Without escapes there is one way to write it, which bytes are searched for fastest. A search for eight
  // letters takes twice as long as one for seven.
  if (raw.length > SHORT && !raw.includes(BACKSLASH)) return raw.includes(NAME);
  return SIGNS.test(toLatin1(raw));
}

function withoutReservedData(error: Raw): Raw {
  if (!mayHaveReserved(error)) return error;
  const data = member(error, "data");
  if (!data || !isObject(data)) return error;
  const all = entries(data);
  const kept = all.filter(([key]) => !key.startsWith(PREFIX));
  return kept.length === all.length ? error : withMember(error, "data", joinObject(kept));
}

function withoutReservedMeta(raw: Raw): Raw {
  if (!mayHaveReserved(raw)) return raw;
  const parts: Buffer[] = [];
  let copied = 0;
  for (const at of metaObjects(raw)) {
    const { kept, all, from, end } = foreignMembers(raw, at);
    if (kept.length === all) continue;
    parts.push(raw.subarray(copied, from), Buffer.from(kept.join(",")));
    copied = end;
  }
  if (copied === 0) return raw;
  return asRaw(Buffer.concat([...parts, raw.subarray(copied)]));
}

/** The members of the object at `at` that the child may set, and where all of them begin and end. */
function foreignMembers(raw: Raw, at: number) {
  const kept: string[] = [];
  let [all, from, end] = [0, at, at];
  eachMember(
    raw,
    (key, _, after) => {
      if (all === 0) from = key;
      all += 1;
      end = after;
      if (!textAt(raw, key).startsWith(PREFIX)) kept.push(raw.toString("utf8", key, after));
    },
    at,
  );
  return { kept, all, from, end };
}

/**
 * The positions of all objects named `_meta`, except those inside another one. One pass without recursion, so
 * that deep nesting is safe.
 */
function metaObjects(raw: Raw): readonly number[] {
  const found: number[] = [];
  const open: boolean[] = [];
  let atKey = false;
  /** The depth of the `_meta` that is being read. */
  let inside = Number.POSITIVE_INFINITY;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i] as number;
    if (c === 0x7b || c === 0x5b) {
      open.push(c === 0x7b);
      atKey = c === 0x7b;
    } else if (c === 0x7d || c === 0x5d) {
      open.pop();
      if (open.length < inside) inside = Number.POSITIVE_INFINITY;
      atKey = false;
    } else if (c === 0x2c) atKey = open.at(-1) === true;
    else if (c === QUOTE) {
      const key = i;
      i = endOfString(raw, i) - 1;
      if (atKey && open.length < inside && isKey(raw, key, "_meta")) {
        const value = valueAfter(raw, i + 1);
        if (raw[value] === 0x7b) {
          found.push(value);
          inside = open.length + 1;
        }
      }
      atKey = false;
    }
  }
  return found;
}

/** The position of the value after the key that ends before `i`. */
function valueAfter(raw: Raw, i: number): number {
  while (raw[i] === 0x3a || (raw[i] as number) <= 0x20) i++;
  return i;
}
