/** An address taken apart, as JSON: the engine in the sandbox has no parser of its own. */

const URL_PARTS = [
  "href",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

/** Nobody has longer ones, and the parser of the host cannot be interrupted. */
export const LONGEST_URL = 64 << 10;

/** Empty where it is no address. */
export function urlParts(make: () => URL): string {
  try {
    const url = make();
    return JSON.stringify(
      Object.fromEntries([...URL_PARTS, "origin" as const].map((part) => [part, url[part]])),
    );
  } catch {
    return "";
  }
}
