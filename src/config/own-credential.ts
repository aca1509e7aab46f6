/** Whether a server is shown what its config says, so that no login is of any use. */
import type { RemoteSpec } from "./spec.ts";

export function hasOwnCredential({ headers, url }: RemoteSpec): boolean {
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: "", password: "" };
  if (username || password) return true;
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
