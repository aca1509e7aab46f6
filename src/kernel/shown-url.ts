/** What of an address people, models and logs may see. */

import { HIDDEN } from "./secret.ts";

/** Without user, query and fragment. Long parts of a path that hold digits are often keys, and are hidden too. */
export function shownUrl(url: string): string {
  const [address = ""] = url.split(/[?#]/);
  return address
    .replace(/\/\/[^/@]*@/, "//")
    .split("/")
    .map((part) => (/^(?=.*\d)[\w~-]{20,}$/.test(part) ? HIDDEN : part))
    .join("/");
}
