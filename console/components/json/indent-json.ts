/** Lays JSON out over lines without reading its values: what is written stays what is written. */
import { kindOf, membersOf, type Span, wholeOf } from "./json-text.ts";

/** Texts that are not JSON come back as they are, and so does what lies deeper than anybody reads. */
export function indentJson(text: string): string {
  const whole = wholeOf(text);
  return whole ? lines(text, whole, "") : text;
}

const DEEPEST = 200;

function lines(text: string, span: Span, margin: string): string {
  const kind = kindOf(text, span);
  const written = text.slice(span.start, span.end);
  if ((kind !== "object" && kind !== "array") || margin.length > 2 * DEEPEST) return written;
  const inner = `${margin}  `;
  const parts: string[] = [];
  for (const member of membersOf(text, span)) {
    const name = kind === "object" ? `${JSON.stringify(member.key)}: ` : "";
    parts.push(`${inner}${name}${lines(text, member, inner)}`);
  }
  const [open, close] = kind === "object" ? "{}" : "[]";
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")}\n${margin}${close}`;
}
