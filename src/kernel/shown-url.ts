/** What of an address people, models and logs may see. */

/** Without user, query and fragment. Long parts of a path that hold digits are often keys, and are hidden too. */
export function shownUrl(url: string): string {
  const [address = ""] = url.split(/[?#]/);
  return address
    .replace(/\/\/[^/@]*@/, "//")
    .split("/")
    .map((part) => (/^(?=.*\d)[\w~-]{20,}$/.test(part) ? "***" : part))
    .join("/");
}
