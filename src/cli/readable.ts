/** Removes control and invisible characters from untrusted text, except line breaks. */
export function readable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[^\P{C}\n]+/gu, "");
}
