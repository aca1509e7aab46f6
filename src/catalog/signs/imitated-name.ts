/** Names of tools that look like those of other servers, or like ours. */
import { lookOfName } from "./look.ts";
import type { Found, SignContext } from "./sign.ts";

/** Our own tools of the surfaces `meta` and `metatools`, which stand in the same list. */
const OURS = new Set(["mcp_discover", "mcp_call", "mcp_execute", "mcp_provision"]);
const LATIN = /\p{Script=Latin}/u;
const LOOKS_LATIN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u;
/** Fullwidth letters, letters of mathematics, Roman numerals. */
const UNUSUAL = /[\u2160-\u217f\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u;
const PREFIX = /^(?:mcp__)?([^:]+?)(?:__|:)/;

export function imitatedName(name: string, { tools, servers, own, looks }: SignContext): readonly Found[] {
  const whole = (severity: Found["severity"]): readonly Found[] => [
    { sign: "imitated-name", severity, start: 0, end: name.length },
  ];
  if (UNUSUAL.test(name)) return whole("hard");
  if (OURS.has(name)) return whole("hard");
  const prefix = PREFIX.exec(name.slice(0, 100))?.[1];
  if (prefix !== undefined && servers.has(prefix.toLowerCase())) return whole("hard");
  const other = looks.get(lookOfName(name));
  // The same name at two servers is usual, and every name has its server's before it.
  const imitates = other !== undefined && other !== name && !tools.has(name) && !own.has(other);
  const mixed = LATIN.test(name) && LOOKS_LATIN.test(name);
  if (imitates && differsOnlyInDashes(name, other)) return [];
  if (imitates) return whole("hard");
  return mixed && isHidingLatin(name) ? whole("hard") : [];
}

function differsOnlyInDashes(a: string, b: string): boolean {
  return a.toLowerCase().replaceAll("-", "_") === b.toLowerCase().replaceAll("-", "_");
}

/** A word, between marks, with letters of both scripts: `α_value` is none. */
function isHidingLatin(name: string): boolean {
  return name.split(/[^\p{L}]/u).some((part) => LATIN.test(part) && LOOKS_LATIN.test(part));
}
