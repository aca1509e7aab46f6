/** Whether an object in this JSON names a member twice. Readers differ in which one counts, so nobody can judge such a value for another. */
import type { Raw } from "../kernel/raw.ts";
import { textAt } from "./slice.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** One pass, without recursion: nesting costs nothing. */
export function repeatedKey(raw: Raw): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  // Right after { or , within an object stands a key.
  let atKey = false;
  for (let i = 0; i < raw.length; i++) {
    switch (raw[i] as number) {
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
        i = closingQuote(raw, i);
        break;
      }
    }
  }
  return undefined;
}

function closingQuote(raw: Raw, i: number): number {
  for (i++; i < raw.length && raw[i] !== QUOTE; i++) if (raw[i] === BACKSLASH) i++;
  return i;
}
