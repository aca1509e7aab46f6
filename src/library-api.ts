/** The types of MetaMCP as a library: options, results, and the object that `createMetaMcp` returns. */
import type { SearchStrategy } from "./catalog/search/strategy.ts";
import type { Connector } from "./child/link.ts";
import type { Middleware } from "./kernel/call.ts";
import type { Log } from "./kernel/log.ts";
import type { Executor } from "./sandbox/executor.ts";
import type { SurfaceName } from "./surface/choose.ts";
import type { Transport } from "./transport/transport.ts";

export interface MetaMcpOptions {
  /** Path of a config file, or what would stand in one. Without: `.mcp.json` here as far as `metamcp allow` allowed it, else `~/.metamcp/mcp.json`. */
  readonly config?: string | ConfigFile;
  /** Where caches and records are kept. Without: METAMCP_HOME, else `~/.metamcp`. */
  readonly home?: string;
  /** Without it nothing is logged. */
  readonly log?: Log;
  /** The largest single message of a server, in bytes. */
  readonly maxMessageBytes?: number;
  /** What clients see that are served; `meta` unless given. */
  readonly surface?: SurfaceName;
  /** Around every call, the first outermost. */
  readonly middleware?: readonly Middleware[];
  /** Where layers of one's own are that the config names. */
  readonly middlewareDir?: string;
  /** By name of a server: who reaches it. One that the config does not have is added. */
  readonly connectors?: Readonly<Record<string, Connector>>;
  /** How tools are ranked. */
  readonly search?: SearchStrategy;
  /** Who runs the code of clients that are served. */
  readonly executor?: Executor;
}

/** The content of a config file; docs/config.md has its keys. */
export interface ConfigFile {
  readonly mcpServers: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The server's own result, as the protocol has it. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

export interface DiscoverOptions {
  readonly query?: string;
  readonly server?: string;
  /** 10; at most 100. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly detail?: "schema" | "types";
}

export interface FoundServer {
  readonly name: string;
  readonly state: "idle" | "connecting" | "active" | "failed" | "closed";
  readonly connected: boolean;
  readonly toolCount: number;
  readonly criticality: "vital" | "optional";
  readonly reason?: string;
  /** Tools that are not as they were approved, and the command to review them. */
  readonly changed?: readonly string[];
  readonly approve?: string;
}

export interface FoundTool {
  readonly tool: string;
  readonly server?: string;
  readonly description: string;
  readonly score?: number;
  /** How likely it is that the tool fits, in 0..1. */
  readonly confidence?: number;
  readonly signature?: string;
  readonly inputSchema?: unknown;
  readonly types?: string;
}

export interface Discovery {
  /** Asked for nothing in particular. */
  readonly servers?: readonly FoundServer[];
  /** Asked for one server. */
  readonly server?: FoundServer;
  readonly tools?: readonly FoundTool[];
  /** Servers whose tools could not be looked at, and why. */
  readonly unknown?: readonly { readonly server: string; readonly reason: string }[];
  readonly nextCursor?: string;
  readonly notice?: string;
}

export interface MetaMcp {
  /** Rejects with MetaMcpError. A server's own `isError` result is a result. */
  call(
    server: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly signal?: AbortSignal },
  ): Promise<ToolResult>;
  /** A question in plain words, or more exactly what is wanted; without either, the servers. */
  discover(wanted?: string | DiscoverOptions): Promise<Discovery>;
  /** Serves clients over it, beside everything else, until nobody is left or `close` ends it. */
  serve(transport: Transport): Promise<void>;
  /** Lets calls under way finish for a moment and ends every server. */
  close(): Promise<void>;
}
