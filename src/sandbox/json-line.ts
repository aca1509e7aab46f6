/** JSON as it goes over a stream of lines. */

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Between the tokens of JSON a line break is as good as a space, and within them there is none. */
export function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]/g, " ") : json;
}
