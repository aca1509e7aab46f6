/** What a config file becomes: one checked, frozen value. Nothing below reads the file or the environment again. */

import type { Secret, Secrets } from "../kernel/secret.ts";
import type { Withheld } from "./allowed.ts";

export interface Lifecycle {
  readonly mode: "default" | "keep-alive" | "ephemeral";
  /** Overrides the pool's idle timeout for this server. */
  readonly idleTimeoutMs?: number;
}

export interface ToolRules {
  /** Globs over tool names. Undefined allows all, an empty list none; deny wins; `ask` is put to the person first. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
  readonly ask: readonly string[];
}

/** One entry of a `middleware` list: the name of a layer, and its options. */
export interface LayerEntry {
  readonly use: string;
  readonly [option: string]: unknown;
}

interface CommonSpec {
  /** What people call it. */
  readonly name: string;
  /** What it goes by in the engine, where names may change; its name unless given. */
  readonly id?: string;
  /** Each account is let in as itself, over connections of its own: after a login at the server, or by what it is told of them. */
  readonly perAccount?: "login" | "values";
  /** As one account reaches it: stands for what it is let in with, as long as that is the same. */
  readonly credential?: string;
  /** What was filled in for that account. */
  readonly personal?: Secrets;
  readonly lifecycle: Lifecycle;
  readonly criticality: "vital" | "optional";
  /** How long a call may be silent. */
  readonly timeoutMs: number;
  /** How long a call may take in all. */
  readonly deadlineMs: number;
  readonly connectTimeoutMs: number;
  readonly tools: ToolRules;
  readonly isolation: "shared" | "session";
  readonly retry: "crash" | "never";
  /** On the aggregate surface: "none" passes names unprefixed. */
  readonly prefix: "server" | "none";
  /** Example arguments by tool name, as configured. */
  readonly examples: Readonly<Record<string, readonly unknown[]>>;
  /** Around calls to it, the first outermost. */
  readonly middleware?: readonly LayerEntry[];
}

export interface StdioSpec extends CommonSpec {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables resolved; on top of the safe list. */
  readonly env: Secrets;
  /** Further names to take from our own environment, or all of them. */
  readonly inheritEnv: readonly string[] | true;
  readonly cwd: string;
  /** How many processes of it may run at once, each with a connection of its own. */
  readonly instances: number;
}

export interface OAuthSpec {
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  /** Where a client metadata document of the user's is published, for issuers that take its address as client id. */
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
}

export interface RemoteSpec extends CommonSpec {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Secrets;
  readonly oauth: OAuthSpec | undefined;
}

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
  /** Absolute path of the file, also where it does not exist yet. */
  readonly path: string;
  readonly exists: boolean;
  readonly servers: ReadonlyMap<string, ServerSpec>;
  /** Servers that cannot be used, by name, with the reason and how to fix it. */
  readonly broken: ReadonlyMap<string, string>;
  readonly disabled: ReadonlySet<string>;
  readonly pool: PoolOptions;
  readonly maxResultBytes: number | undefined;
  /** Around everything, the first outermost; outside of those of the servers. */
  readonly middleware?: readonly LayerEntry[];
  readonly examplesFromUsage: boolean;
  readonly embedder:
    | { readonly url: string; readonly model: string; readonly keyEnv: string | undefined }
    | undefined;
  /** Unknown keys and values: reported, not refused. */
  readonly warnings: readonly string[];
  /** The file was merely found, and the user has not allowed yet what it runs: none of it is used. */
  readonly withheld?: Withheld;
}
