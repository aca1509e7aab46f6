/**
 * MetaMCP as a library: the same engine, in which the caller can replace five parts. Listens on nothing by
 * itself, and reads the config once.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { folderConsent } from "../config/allowed.ts";
import type { LayerCheck } from "../config/layers.ts";
import { loadConfig, parseConfig } from "../config/load.ts";
import { configCandidates, pickConfig } from "../config/locate.ts";
import type { Config } from "../config/spec.ts";
import { ConfigLayers } from "../engine/config-layers.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Endpoint, Engine } from "../engine/engine.ts";
import { systemClock } from "../engine/system-clock.ts";
import { homeFolder } from "../home/home.ts";
import type { Origin } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { silentLog } from "../kernel/log.ts";
import { LOCAL, PERSONAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { DEFAULT_MAX_MESSAGE } from "../rpc/lines.ts";
import { NO_UPLINK } from "../rpc/no-uplink.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { callTool } from "../surface/call-tool.ts";
import { executionFailed } from "../surface/failure.ts";
import { readInput } from "../surface/input.ts";
import { loadSurface } from "../surface/load-surface.ts";
import { discover } from "../surface/meta/discover.ts";
import { DISCOVER } from "../surface/meta/tools.ts";
import type { ClientRequest } from "../surface/surface.ts";
import type { Transport } from "../transport/transport.ts";
import type {
  CallOptions,
  CodeResult,
  ConfigFile,
  DiscoverOptions,
  Discovery,
  FoundPrompt,
  FoundResources,
  FoundTools,
  MetaMcp,
  MetaMcpOptions,
  PromptResult,
  ResourceResult,
  ToolResult,
} from "./api.ts";
import { ask, list, runCode } from "./requests.ts";

/** Starts no server; a server starts on first use. Rejects if the config cannot be read. */
export async function createMetaMcp(options: MetaMcpOptions = {}): Promise<MetaMcp> {
  const { home = homeFolder(process.env), log = silentLog, maxMessageBytes = DEFAULT_MAX_MESSAGE } = options;
  const { config: given, connectors, surface = "meta", ...parts } = options;
  const own = new Map(Object.entries(connectors ?? {}));
  const layers = new ConfigLayers(systemClock, options.middlewareDir);
  const config = await withServers(await configOf(given, home, layers.check), [...own.keys()]);
  const userReadsLog = options.log !== undefined;
  const engine = createEngine({
    ...parts,
    layers,
    config,
    home,
    log,
    maxMessageBytes,
    userReadsLog,
    connectors: own,
  });
  return new Library(engine, engine.open({ id: PERSONAL, surface: await loadSurface(surface) }));
}

/** Adds the servers that have only a connector. No process is started for them. */
async function withServers(config: Config, names: readonly string[]): Promise<Config> {
  const missing = names.filter((name) => !config.servers.has(name));
  if (missing.length === 0) return config;
  const entries = Object.fromEntries(missing.map((name) => [name, { command: name }]));
  const more = await parseConfig(config.path, JSON.stringify({ mcpServers: entries }), { env: {} });
  return { ...config, servers: new Map([...config.servers, ...more.servers]) };
}

async function configOf(
  given: string | ConfigFile | undefined,
  home: string,
  layers: LayerCheck,
): Promise<Config> {
  const { env } = process;
  if (typeof given === "object")
    return await parseConfig(join(process.cwd(), ".mcp.json"), JSON.stringify(given), { env, layers });
  const consent = folderConsent(given, process.cwd(), home);
  return await loadConfig(pickConfig(configCandidates(given, process.cwd(), env)), {
    env,
    consent,
    layers,
  });
}

/** All open engines. They share one exit listener, because a program may have many engines. */
const engines = new Set<Engine>();
const killAll = (): void => {
  for (const engine of engines) engine.killNow();
};

class Library implements MetaMcp {
  readonly #engine: Engine;
  readonly #endpoint: Endpoint;
  readonly #origin: Origin = {
    ...LOCAL,
    session: randomBytes(16).toString("hex"),
    capabilities: EMPTY_OBJECT,
    uplink: NO_UPLINK,
  };
  readonly #running = new Set<Promise<unknown>>();
  readonly #transports = new Set<Transport>();
  #closed: Promise<void> | undefined;

  constructor(engine: Engine, endpoint: Endpoint) {
    this.#engine = engine;
    this.#endpoint = endpoint;
    if (engines.size === 0) process.once("exit", killAll);
    engines.add(engine);
  }

  async call(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>> = {},
    { signal }: CallOptions = {},
  ): Promise<ToolResult> {
    const written = asWritten(args);
    return (await this.#run(signal, async (request) => {
      try {
        return await callTool(this.#engine.scope, { server, tool, args: written }, request);
      } catch (error) {
        throw error instanceof RpcError
          ? executionFailed(error, { server, tool_id: `${server}:${tool}` })
          : error;
      }
    })) as ToolResult;
  }

  async listResources(server: string, { signal }: CallOptions = {}): Promise<FoundResources> {
    return {
      resources: [],
      templates: [],
      ...(await this.#list<Partial<FoundResources>>(server, "resources", signal)),
    };
  }

  async readResource(server: string, uri: string, { signal }: CallOptions = {}): Promise<ResourceResult> {
    const wanted = { server, method: "resources/read", params: { uri } } as const;
    const answer = await this.#run(signal, (request) => ask(this.#engine.scope, wanted, request));
    return answer as ResourceResult;
  }

  async listPrompts(server: string, { signal }: CallOptions = {}): Promise<readonly FoundPrompt[]> {
    return (await this.#list<{ prompts: readonly FoundPrompt[] }>(server, "prompts", signal)).prompts;
  }

  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    { signal }: CallOptions = {},
  ): Promise<PromptResult> {
    const wanted = { server, method: "prompts/get", params: { name, arguments: args } } as const;
    const answer = await this.#run(signal, (request) => ask(this.#engine.scope, wanted, request));
    return answer as PromptResult;
  }

  async execute(
    code: string,
    { signal, timeoutMs }: CallOptions & { readonly timeoutMs?: number } = {},
  ): Promise<CodeResult> {
    const input = { code, timeoutMs };
    const result = await this.#run(signal, async (request) => {
      try {
        return await runCode(this.#engine.scope, input, request);
      } catch (error) {
        throw asInputError(error);
      }
    });
    if (signal?.aborted) throw new MetaMcpError("cancelled", "The run was cancelled.");
    return result as CodeResult;
  }

  async #list<T>(server: string, tool: "resources" | "prompts", signal: AbortSignal | undefined): Promise<T> {
    const answer = await this.#run(signal, (request) => list(this.#engine.scope, server, tool, request));
    const { content } = answer as { content: readonly [{ text: string }] };
    return JSON.parse(content[0].text) as T;
  }

  async discover(question: string): Promise<FoundTools>;
  async discover(wanted?: DiscoverOptions): Promise<Discovery>;
  async discover(wanted: string | DiscoverOptions = {}): Promise<Discovery> {
    const input = toRaw(typeof wanted === "string" ? { query: wanted } : wanted);
    const result = (await this.#run(undefined, async (request) => {
      try {
        return await discover(this.#engine.scope, readInput(DISCOVER, input), request);
      } catch (error) {
        throw asInputError(error);
      }
    })) as { content: readonly [{ text: string }] };
    const found = JSON.parse(result.content[0].text) as Discovery;
    // An empty question lists the servers.
    return typeof wanted === "string" ? { tools: [], ...found } : found;
  }

  async serve(transport: Transport): Promise<void> {
    if (this.#closed) throw closed();
    this.#transports.add(transport);
    try {
      await transport.serve(this.#endpoint);
    } finally {
      this.#transports.delete(transport);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, 5_000);
    });
    const transports = [...this.#transports];
    for (const transport of transports) void transport.stop();
    await Promise.race([Promise.allSettled(this.#running), patience]);
    clearTimeout(timer);
    await this.#engine.close();
    await Promise.all(transports.map((transport) => transport.close()));
    engines.delete(this.#engine);
    if (engines.size === 0) process.removeListener("exit", killAll);
  }

  async #run(
    signal: AbortSignal | undefined,
    work: (request: ClientRequest) => Promise<Raw>,
  ): Promise<unknown> {
    if (this.#closed) throw closed();
    const origin = this.#origin;
    const running = work({
      method: "tools/call",
      params: undefined,
      origin,
      signal: signal ?? new CallSignal(),
      uplink: origin.uplink,
    });
    this.#running.add(running);
    try {
      return fromRaw(await running);
    } catch (error) {
      // The reason of an aborted signal can be any value.
      if (!signal?.aborted || MetaMcpError.is(error)) throw error;
      throw new MetaMcpError("cancelled", "The call was cancelled.", { cause: error });
    } finally {
      this.#running.delete(running);
    }
  }
}

function closed(): MetaMcpError {
  return new MetaMcpError("server_unavailable", "MetaMCP is closed.", { retryable: false });
}

function asInputError(error: unknown): unknown {
  return error instanceof RpcError ? new MetaMcpError("validation_input", error.message) : error;
}

function asWritten(args: Readonly<Record<string, unknown>>): Raw {
  try {
    return toRaw(args);
  } catch (error) {
    const { message } = error as Error;
    throw new MetaMcpError("validation_input", `The arguments cannot be written as JSON: ${message}`);
  }
}
