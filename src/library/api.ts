/** The types of MetaMCP as a library: options, results, and the object that `createMetaMcp` returns. */
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Connector } from "../child/link.ts";
import type { Middleware } from "../kernel/call.ts";
import type { Log } from "../kernel/log.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { SurfaceName } from "../surface/kind.ts";
import type { Transport } from "../transport/transport.ts";

export interface MetaMcpOptions {
  /**
   * The path or the content of a config file. Default: `.mcp.json` in the current folder, as far as `metamcp
   * allow` allowed it, else `~/.metamcp/mcp.json`.
   */
  readonly config?: string | ConfigFile;
  /** The folder for caches and records. Default: METAMCP_HOME, else `~/.metamcp`. */
  readonly home?: string;
  /** Without it nothing is logged. */
  readonly log?: Log;
  /** The maximum size of a message of a server, in bytes. */
  readonly maxMessageBytes?: number;
  /** What served clients see. Default: `meta`. */
  readonly surface?: SurfaceName;
  /** Middleware around every call, the first outermost. */
  readonly middleware?: readonly Middleware[];
  /** The folder with your own layers, for `"use": "./NAME.mjs"` in the config. */
  readonly middlewareDir?: string;
  /** Connectors by server name. A server that the config does not have is added. */
  readonly connectors?: Readonly<Record<string, Connector>>;
  /** Default: the built-in search. */
  readonly search?: SearchStrategy;
  /** Runs the code of served clients and of `execute`. */
  readonly executor?: Executor;
}

/** The content of a config file. See docs/config.md for the keys. */
export interface ConfigFile {
  readonly mcpServers: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** The result of the server, as in the protocol. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [key: string]: unknown;
}

export interface DiscoverOptions {
  readonly query?: string;
  readonly server?: string;
  /** Default 10, at most 100. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly detail?: "schema" | "types";
}

export interface FoundServer extends Pick<ServerStatus, "name" | "state" | "connected" | "criticality"> {
  readonly toolCount: number;
  readonly reason?: string;
  /** Tools that changed since they were approved, and the command to review them. */
  readonly changed?: readonly string[];
  readonly approve?: string;
}

export interface FoundTool {
  readonly tool: string;
  readonly server?: string;
  readonly description: string;
  readonly score?: number;
  /** How likely the tool fits, from 0 to 1. */
  readonly confidence?: number;
  readonly signature?: string;
  readonly inputSchema?: unknown;
  readonly types?: string;
}

export interface Discovery {
  /** Without a query and a server. */
  readonly servers?: readonly FoundServer[];
  /** If a server was given. */
  readonly server?: FoundServer;
  readonly tools?: readonly FoundTool[];
  /** Servers whose tools could not be listed, with the reason. */
  readonly unknown?: readonly { readonly server: string; readonly reason: string }[];
  readonly nextCursor?: string;
  readonly notice?: string;
}

/** The answer to a question in plain words. */
export interface FoundTools extends Discovery {
  /** Best first; empty if nothing fits. */
  readonly tools: readonly (FoundTool & { readonly server: string })[];
}

/** The result of `resources/read`, as in the protocol. */
export interface ResourceResult {
  readonly contents: readonly {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    /** Base64. */
    readonly blob?: string;
    readonly [key: string]: unknown;
  }[];
  readonly [key: string]: unknown;
}

/** The result of `prompts/get`, as in the protocol. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly [key: string]: unknown;
}

/** Resources and resource templates of a server, as it describes them. */
export interface FoundResources {
  readonly resources: readonly {
    readonly uri: string;
    readonly name: string;
    readonly [key: string]: unknown;
  }[];
  readonly templates: readonly {
    readonly uriTemplate: string;
    readonly name: string;
    readonly [key: string]: unknown;
  }[];
}

/** A prompt of a server, as it describes it. */
export interface FoundPrompt {
  readonly name: string;
  readonly [key: string]: unknown;
}

export interface CodeResult {
  /** What the code returned. */
  readonly value?: unknown;
  /** If the code failed or exceeded a limit. */
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly [key: string]: unknown;
  };
  readonly logs: readonly { readonly level: string; readonly text: string }[];
  readonly calls: readonly {
    readonly server: string;
    readonly tool: string;
    readonly ms: number;
    readonly error?: string;
  }[];
  readonly durationMs: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface MetaMcp {
  /** Rejects with MetaMcpError. A result with `isError` is returned, not thrown. */
  call(
    server: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<ToolResult>;
  /** Lists all resources and resource templates of a server. */
  listResources(server: string, options?: CallOptions): Promise<FoundResources>;
  readResource(server: string, uri: string, options?: CallOptions): Promise<ResourceResult>;
  /** Lists all prompts of a server. */
  listPrompts(server: string, options?: CallOptions): Promise<readonly FoundPrompt[]>;
  getPrompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<PromptResult>;
  /**
   * Runs code that calls tools, in the sandbox. An error of the code is in the result, with its logs and
   * calls. Default time limit: 30 seconds.
   */
  execute(code: string, options?: CallOptions & { readonly timeoutMs?: number }): Promise<CodeResult>;
  /** Finds tools for a question in plain words. */
  discover(question: string): Promise<FoundTools>;
  /** Finds or lists tools by options. Without an argument: lists the servers. */
  discover(wanted?: DiscoverOptions): Promise<Discovery>;
  /** Serves clients over the transport until all have left or `close` is called. */
  serve(transport: Transport): Promise<void>;
  /** Waits a short time for running calls, then ends all servers. */
  close(): Promise<void>;
}
