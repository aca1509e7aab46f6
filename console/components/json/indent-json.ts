/** Indents JSON text without parsing its values, so that numbers stay exactly as written. */
import { kindOf, membersOf, rootSpan, type Span } from "./json-text.ts";

/** Returns text that is not JSON unchanged. Values nested deeper than 200 levels are not indented. */
export function indentJson(text: string): string {
  const root = rootSpan(text);
  return root ? lines(text, root, "") : text;
}

const MAX_DEPTH = 200;

function lines(text: string, span: Span, margin: string): string {
  const kind = kindOf(text, span);
  const json = text.slice(span.start, span.end);
  if ((kind !== "object" && kind !== "array") || margin.length > 2 * MAX_DEPTH) return json;
  const inner = `${margin}  `;
  const parts: string[] = [];
  for (const member of membersOf(text, span)) {
    const name = kind === "object" ? `${JSON.stringify(member.key)}: ` : "";
    parts.push(`${inner}${name}${lines(text, member, inner)}`);
  }
  const [open, close] = kind === "object" ? "{}" : "[]";
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")}\n${margin}${close}`;
}
