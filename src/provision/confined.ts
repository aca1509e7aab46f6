/** Confines a new local server, where this machine can do that and no sandbox for all servers is set. */
import { cannotConfine } from "../config/confinable.ts";
import type { Sandbox, SandboxRules } from "../config/sandbox.ts";
import type { Env } from "../home/home.ts";
import type { Entry } from "./candidate.ts";
import { newSandbox } from "./new-sandbox.ts";

export interface NewEntry {
  readonly entry: Entry;
  /** Why a local server is not confined. */
  readonly unconfined?: string;
}

export interface ConfinedIn {
  readonly folder: string;
  readonly env: Env;
  /** The sandbox for all servers: a new one needs none of its own. */
  readonly sandbox?: SandboxRules | undefined;
  /** Whoever published the entry does not decide which places it may touch. */
  readonly foreign?: boolean;
  readonly cannotConfine?: ((sandbox: Sandbox) => string | undefined) | undefined;
}

export function confined(
  entry: Entry,
  { folder, env, sandbox: rules, foreign = false, cannotConfine: judge = cannotConfine }: ConfinedIn,
): NewEntry {
  if (!("command" in entry)) return { entry };
  const { sandbox: suggested, ...bare } = entry;
  if (suggested === false || rules?.default !== undefined || rules?.floor !== undefined)
    return { entry: suggested === false ? entry : bare };
  const found = newSandbox(entry, { folder, env });
  const sandbox = foreign && found !== undefined ? true : found;
  if (sandbox === undefined)
    return { entry: bare, unconfined: "it starts containers, which a sandbox does not let it do" };
  const { network = "all" } = sandbox === true ? {} : sandbox;
  const because = judge({ read: [], write: [], network });
  return because === undefined ? { entry: { ...bare, sandbox } } : { entry: bare, unconfined: because };
}
