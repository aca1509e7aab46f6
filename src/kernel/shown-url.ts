/** The part of a URL that people, models and logs may see. */

import { HIDDEN } from "./secret.ts";

/**
 * The URL without user info, query and fragment. Long path segments with digits are often keys, so they are
 * masked too.
 */
export function shownUrl(url: string): string {
  const [address = ""] = url.split(/[?#]/);
  return address
    .replace(/\/\/[^/@]*@/, "//")
    .split("/")
    .map((part) => (/^(?=.*\d)[\w~-]{20,}$/.test(part) ? HIDDEN : part))
    .join("/");
}
