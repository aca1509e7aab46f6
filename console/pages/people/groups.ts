/** Groups as they are typed: names between commas. */

export function groupsIn(text: string): string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean);
}
