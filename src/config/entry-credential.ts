/** Tells whether the config of a server contains an Authorization header, so that no login is needed. */
import type { RemoteSpec } from "./spec.ts";

export function hasEntryCredential({ headers }: RemoteSpec): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
