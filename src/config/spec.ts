/**
 * The types of a loaded config: one checked, frozen value. Other code does not read the file or the
 * environment again.
 */

import type { Secret, Secrets } from "../kernel/secret.ts";
import type { ToolId } from "../kernel/tool-id.ts";
import type { Withheld } from "./allowed.ts";
import type { PlainFields } from "./plain-fields.ts";
import type { Sandbox } from "./sandbox.ts";
import type { ReferringText } from "./secret-reference.ts";

export interface Lifecycle {
  readonly mode: "default" | "keep-alive" | "ephemeral";
  /** Overrides the pool's idle timeout for this server. */
  readonly idleTimeoutMs?: number;
}

export interface ToolRules {
  /**
   * Globs over tool names. Undefined allows all tools, an empty list none. `deny` wins over `allow`. Tools in
   * `ask` need the user's permission for each call.
   */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
  readonly ask: readonly string[];
}

/** One entry of a `middleware` list: the name of a layer, and its options. */
export interface LayerEntry {
  readonly use: string;
  readonly [option: string]: unknown;
}

/** The times, choices and numbers are described in the table of fields. */
export interface CommonSpec extends PlainFields {
  /** The values of `${secret:…}` in the entry, which must not be shown. */
  readonly secrets?: readonly Secret[];
  /** The texts with references to secrets, which are resolved when the server is reached. */
  readonly references?: readonly ReferringText[];
  readonly name: string;
  /** The id in the engine, if the name may change. Default: the name. */
  readonly id?: string;
  /**
   * Each account has its own connections: after a login at the server, or with values of the account in env
   * and headers.
   */
  readonly perAccount?: "login" | "values";
  /** In the spec for one account: the id of its credential. It changes with the credential. */
  readonly credential?: string;
  /** The values that were filled in for that account. */
  readonly personal?: Secrets;
  readonly lifecycle: Lifecycle;
  readonly tools: ToolRules;
  /** Example arguments from the config, by tool name. */
  readonly examples: Readonly<Record<string, readonly unknown[]>>;
  /** Layers around calls to this server, the outermost first. */
  readonly middleware?: readonly LayerEntry[];
}

export interface StdioSpec extends CommonSpec, PlainFields<"stdio"> {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** With variables resolved. Added to the safe variables that every server gets. */
  readonly env: Secrets;
  /** Names of further variables to pass from MetaMCP's environment, or true for all. */
  readonly inheritEnv: readonly string[] | true;
  readonly cwd: string;
  /** What it may touch. Undefined if it is not confined. */
  readonly sandbox?: Sandbox;
  /** Set for `metamcp skills`: MetaMCP serves the skills in these folders itself, without a process. */
  readonly skillFolders?: readonly string[];
}

export interface OAuthSpec {
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  /** The address of the user's client metadata document, for issuers that accept it as client id. */
  readonly clientMetadataUrl?: string;
  /** MetaMCP gets tokens for itself, without a login of a person. */
  readonly grant?: "client_credentials";
  /** Signs assertions of the client with this grant, instead of a secret. PEM (PKCS #8) or JWK. */
  readonly privateKey?: Secret;
  readonly scopes?: readonly string[];
}

interface ReachedByUrl extends CommonSpec, PlainFields<"remote"> {
  readonly url: string;
  readonly headers: Secrets;
  readonly oauth: OAuthSpec | undefined;
}

export interface McpRemoteSpec extends ReachedByUrl {
  readonly kind: "http" | "sse";
}

/** An HTTP API whose operations are tools. `url` is `baseUrl`, or else the address of the document. */
export interface OpenApiSpec extends ReachedByUrl {
  readonly kind: "openapi";
  /** The address of the document, or the absolute path of a file. */
  readonly openapi: string;
  readonly baseUrl: string | undefined;
  readonly operations: OperationRules;
}

export interface OperationRules {
  /** Globs over names of tools, ids of operations and `METHOD /path`. Undefined allows all. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** A server that is reached over HTTP, whatever it speaks. */
export type RemoteSpec = McpRemoteSpec | OpenApiSpec;

export type ServerSpec = StdioSpec | RemoteSpec;

export interface PoolOptions {
  readonly poolSize: number;
  readonly resPoolSize: number;
  readonly minPoolSize: number;
  readonly resPoolTimeout: number;
  readonly idleTimeoutMs: number;
  readonly failureThreshold: number;
  readonly cooldownMs: number;
}

export interface Config {
  /** The absolute path of the file, which may not exist yet. */
  readonly path: string;
  readonly exists: boolean;
  readonly servers: ReadonlyMap<string, ServerSpec>;
  /** Servers that cannot be used, by name, with the reason and how to fix it. */
  readonly broken: ReadonlyMap<string, string>;
  readonly disabled: ReadonlySet<string>;
  readonly pool: PoolOptions;
  readonly maxResultBytes: number | undefined;
  /** The auto surface lists all tools if their definitions have at most this many bytes. */
  readonly autoMaxBytes: number | undefined;
  /** Tools that the meta surfaces list in full. */
  readonly pinned: readonly ToolId[];
  /** Layers around all calls, the outermost first; they are outside of the layers of servers. */
  readonly middleware?: readonly LayerEntry[];
  readonly examplesFromUsage: boolean;
  readonly embedder:
    | { readonly url: string; readonly model: string; readonly keyEnv: string | undefined }
    | undefined;
  /** About unknown keys and ignored values. */
  readonly warnings: readonly string[];
  /**
   * Set if the file was found in the working directory and the user has not allowed it yet. Nothing in it is
   * used.
   */
  readonly withheld?: Withheld;
}
