/**
 * Finds a key that occurs twice in an object of this JSON. Parsers differ in which value they take, so such
 * JSON cannot be checked on behalf of another parser.
 */
import type { Raw } from "../kernel/raw.ts";
import { textAt } from "./slice.ts";
import { endOfString } from "./value-end.ts";

const QUOTE = 0x22;
/** By byte: whether it is looked at. */
const STRUCTURE = new Uint8Array(256);
for (const c of Buffer.from('"{}[],')) STRUCTURE[c] = 1;

/** Returns the key, or undefined. One pass without recursion, so that deep nesting is safe. */
export function repeatedKey(raw: Raw): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  // In an object a key follows { and comma.
  let atKey = false;
  for (let i = 0; i < raw.length; i++) {
    const c = raw[i] as number;
    if (STRUCTURE[c] === 0) continue;
    switch (c) {
      case 0x7b:
        open.push(new Set());
        atKey = true;
        break;
      case 0x5b:
        open.push(undefined);
        atKey = false;
        break;
      case 0x7d:
      case 0x5d:
        open.pop();
        atKey = false;
        break;
      case 0x2c:
        atKey = open.at(-1) !== undefined;
        break;
      case QUOTE: {
        const keys = open.at(-1);
        if (atKey && keys) {
          const key = textAt(raw, i);
          if (keys.has(key)) return key;
          keys.add(key);
        }
        atKey = false;
        i = endOfString(raw, i) - 1;
        break;
      }
    }
  }
  return undefined;
}
