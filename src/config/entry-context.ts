import type { Env } from "../home/home.ts";
import type { Sandbox, SandboxRules } from "./sandbox.ts";
import type { SecretRules } from "./secret-reference.ts";

/** How variables and relative paths in an entry are resolved. */
export interface EntryContext {
  /** The absolute path of the config file. */
  readonly path: string;
  /** A change of the file is effective only after the user's permission. */
  readonly isGuarded?: boolean;
  /** The folder of the config file. */
  readonly folder: string;
  /** The folder is no server's own, because it is that of the gateway. */
  readonly folderOfGateway?: boolean;
  readonly env: Env;
  readonly sandbox?: SandboxRules | undefined;
  /** Why this machine cannot confine a server in this way, and how to mend that. */
  readonly cannotConfine?: ((sandbox: Sandbox) => string | undefined) | undefined;
  /** Which references to secrets the entry may contain. Default: all. */
  readonly secretRules?: SecretRules;
  /** In a gateway: the folders whose skills it serves. */
  readonly skillFolders?: readonly string[] | undefined;
}
