/** What a config file becomes: one checked, frozen value. Nothing below reads the file or the environment again. */

export interface Lifecycle {
  readonly mode: "default" | "keep-alive" | "ephemeral";
  /** Overrides the pool's idle timeout for this server. */
  readonly idleTimeoutMs?: number;
}

export interface ToolRules {
  /** Globs over tool names. An empty `allow` allows all; deny wins; `ask` is put to the person first. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly ask: readonly string[];
}

interface CommonSpec {
  readonly name: string;
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
}

export interface StdioSpec extends CommonSpec {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables resolved; on top of the safe list. */
  readonly env: Readonly<Record<string, string>>;
  /** Further names to take from our own environment, or all of them. */
  readonly inheritEnv: readonly string[] | true;
  readonly cwd: string;
}

export interface OAuthSpec {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where a client metadata document of the user's is published, for issuers that take its address as client id. */
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
}

export interface RemoteSpec extends CommonSpec {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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
  /** Servers that cannot be used, by name, with the reason and how to mend it. */
  readonly broken: ReadonlyMap<string, string>;
  readonly disabled: ReadonlySet<string>;
  readonly pool: PoolOptions;
  readonly maxResultBytes: number | undefined;
  readonly examplesFromUsage: boolean;
  readonly embedder:
    | { readonly url: string; readonly model: string; readonly keyEnv: string | undefined }
    | undefined;
  /** Unknown keys and values: reported, not refused. */
  readonly warnings: readonly string[];
}
