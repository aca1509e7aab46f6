/** Parses URLs for the guest, because QuickJS has no URL class. The parts are JSON. */

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

/** Limits parsing time, because the parser of the host cannot be interrupted. */
export const LONGEST_URL = 64 << 10;

/** Returns an empty string for an invalid URL. */
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
