/** Reads cookies of a request. A name may occur several times. */
import type { IncomingHttpHeaders } from "node:http";

export function cookieValues(
  { cookie = "" }: Pick<IncomingHttpHeaders, "cookie">,
  name: string,
): readonly string[] {
  return cookie.split(";").flatMap((pair) => {
    const [key = "", value = ""] = pair.trim().split("=", 2);
    return key === name && value !== "" ? [value] : [];
  });
}
