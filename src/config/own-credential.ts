/** Whether a server is shown what its config says, so that no login is of any use. */
import type { RemoteSpec } from "./spec.ts";

export function hasOwnCredential({ headers }: RemoteSpec): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
