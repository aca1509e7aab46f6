/** Reads and writes cookies. A name may occur several times in a request. */
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

/** Browsers send a cookie with the prefix `__Host-` only to the host that set it, and only over HTTPS. */
const HOST_ONLY = "__Host-";

export function cookieName(name: string, secure: boolean): string {
  return secure ? `${HOST_ONLY}${name}` : name;
}

/** The value of `Set-Cookie`. `maxAge` is in seconds; 0 deletes the cookie. */
export function setCookie(name: string, value: string, maxAge: number): string {
  const secure = name.startsWith(HOST_ONLY) ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}
