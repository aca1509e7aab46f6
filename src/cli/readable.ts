/** A stranger's text without what a terminal acts on. Lines stay lines. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[^\P{C}\n]+/gu, "");
}
