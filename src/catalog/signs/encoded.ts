/** Encoded text that holds commands or instructions. Decodes one level; what is data stays unnamed. */
import type { Found, SignSeverity } from "./sign.ts";

/** Runs are single classes with a least length, so they cannot backtrack far. */
const BASE64 = /[A-Za-z0-9+/_-]{20,}={0,2}/g;
const ESCAPED = /(?:\\x[0-9a-fA-F]{2}){6,}|(?:\\u00[0-9a-fA-F]{2}){6,}|(?:%[0-9a-fA-F]{2}){8,}/g;
const HEX = /^(?:[0-9a-fA-F]{2})+$/;
const WEB_TOKEN = /^eyJ/;
const COMMAND =
  /\b(?:curl|wget|bash|powershell|iex|invoke-webrequest|invoke-expression|rm -rf|chmod|nc -e|eval|exec|os\.system|subprocess|child_process|fetch\(|document\.cookie|localstorage|base64 -d|\/etc\/passwd|id_rsa|\.ssh)|\| ?sh\b|<script|new-object/i;
const ORDER =
  /\b(?:ignore|disregard|forget|you must|you should|do not tell|never tell|instructions|system prompt|send all|send the)\b/i;
/** Commands that decode what follows and run it. */
const DECODES =
  /base64 (?:-d|-D|--decode)[^|\n]{0,80}\| ?(?:ba)?sh\b|-enc(?:odedcommand)? [A-Za-z0-9+/=]{20}/i;
/** Media types that run. */
const RUNS =
  /data:(?:text\/html|application\/javascript|text\/javascript|image\/svg\+xml)[^,\s]{0,40};base64,/i;
/** A longer run is looked at in its first part. */
const LONGEST = 8_192;
const LEAST_READABLE = 0.95;

export function encoded(text: string): readonly Found[] {
  const found: Found[] = [];
  const add = (severity: SignSeverity | undefined, start: number, end: number): void => {
    if (severity) found.push({ sign: "encoded", severity, start, end });
  };
  for (const { 0: run, index } of text.matchAll(BASE64))
    add(meaning(decoded(run.slice(0, LONGEST))), index, index + run.length);
  for (const { 0: run, index } of text.matchAll(ESCAPED))
    add(meaning(unescaped(run.slice(0, LONGEST))) ?? "soft", index, index + run.length);
  for (const pattern of [DECODES, RUNS]) {
    const match = pattern.exec(text);
    if (match) add("hard", match.index, match.index + match[0].length);
  }
  return found;
}

function meaning(plain: string | undefined): SignSeverity | undefined {
  if (plain === undefined) return undefined;
  return COMMAND.test(plain) || ORDER.test(plain) ? "hard" : "soft";
}

/** The readable text that the run holds; undefined for data. */
function decoded(run: string): string | undefined {
  if (WEB_TOKEN.test(run)) return undefined;
  if (HEX.test(run)) return readable(Buffer.from(run, "hex"));
  const bytes = Buffer.from(run, "base64");
  return (
    readable(bytes) ??
    readable(
      bytes.filter((_, at) => at % 2 === 0),
      isWide(bytes),
    )
  );
}

/** As in texts of two bytes per character, which Windows takes. */
function isWide(bytes: Buffer): boolean {
  return bytes.length >= 16 && bytes.every((byte, at) => at % 2 === 0 || byte === 0);
}

function unescaped(run: string): string | undefined {
  return readable(Buffer.from(run.replaceAll(/\\x|\\u00|%/g, ""), "hex"));
}

/** Text has blanks or marks between words, and hardly any control characters. */
function readable(bytes: Uint8Array, holds = true): string | undefined {
  if (!holds || bytes.length < 8) return undefined;
  const text = Buffer.from(bytes).toString("latin1");
  const plain = text.match(/[\x20-\x7e\n\t]/g)?.length ?? 0;
  return plain >= text.length * LEAST_READABLE && /[ /(]/.test(text) ? text : undefined;
}
