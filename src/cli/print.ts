/**
 * The only place where commands write texts. Control characters, text directions and other invisible
 * characters in them come from servers and found files, so they are shown, not sent to the terminal.
 */

/** Joiners stay, because they are parts of emoji. */
const UNSAFE = /\r\n|[^\P{C}\n\t\u200d]|[\p{Zl}\p{Zp}]/gu;

/** The text with unsafe characters escaped. Line breaks and tabs stay. */
export function shown(text: string): string {
  return text.replaceAll(UNSAFE, (found) => (found === "\r\n" ? "\n" : `\\u{${codeOf(found)}}`));
}

export function print(text: string): void {
  process.stdout.write(`${shown(text)}\n`);
}

/** For problems and questions: stdout is for the result of a command. */
export function printError(text: string): void {
  process.stderr.write(`${shown(text)}\n`);
}

/** The result of a tool or a document: a file or another program gets it unchanged. */
export function printResult(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? shown(text) : text}\n`);
}

/** JSON allows some unsafe characters in strings. At a terminal they are escaped, which means the same. */
export function printJson(json: string): void {
  process.stdout.write(`${process.stdout.isTTY ? shownJson(json) : json}\n`);
}

/** The same value in JSON, with unsafe characters escaped. */
export function shownJson(json: string): string {
  return json.replaceAll(UNSAFE, escapedInJson);
}

function escapedInJson(found: string): string {
  return /\s/.test(found) && !/[\u2028\u2029\ufeff]/.test(found)
    ? found
    : Array.from(
        { length: found.length },
        (_, at) => `\\u${hex(found.charCodeAt(at)).padStart(4, "0")}`,
      ).join("");
}

function codeOf(character: string): string {
  return hex(character.codePointAt(0) ?? 0);
}

function hex(code: number): string {
  return code.toString(16);
}
