/** The sandbox of a new local server. */
import { dirname } from "node:path";
import { cannotConfine } from "../config/confinable.ts";
import type { Entry } from "../provision/candidate.ts";
import { newSandbox } from "../provision/new-sandbox.ts";

export interface NewEntry {
  readonly entry: Entry;
  /** Why a local server is not confined. */
  readonly unconfined?: string;
}

/** New local servers of the config file at `path` are confined where this machine can do that. */
export function confined(entry: Entry, path: string): NewEntry {
  if (!("command" in entry)) return { entry };
  const sandbox = newSandbox(entry, { folder: dirname(path), env: process.env });
  if (sandbox === undefined)
    return { entry, unconfined: "it starts containers, which a sandbox does not let it do" };
  const because = cannotConfine({ read: [], write: [], network: "all" });
  return because === undefined ? { entry: { ...entry, sandbox } } : { entry, unconfined: because };
}
