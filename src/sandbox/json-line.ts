/** JSON in a protocol of lines. */

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces line breaks with spaces. JSON allows raw line breaks only between tokens, so the value stays the
 * same.
 */
export function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]/g, " ") : json;
}
