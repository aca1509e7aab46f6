/**
 * The layers of a config file: checks them when the file is read, and composes them for the engine. The code
 * of layers is loaded only if the file has some.
 */
import type { LayerCheck, LayerFault } from "../config/layers.ts";
import type { Config, LayerEntry, ServerSpec } from "../config/spec.ts";
import type { Handler } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { isOtherMethod } from "../kernel/methods.ts";
import { EMPTY_OBJECT, fromRaw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import { CompiledLayers } from "../middleware/compiled-layers.ts";
import type { PlacedLayer } from "../middleware/layer.ts";
import type { LayerRegistry } from "../middleware/registry.ts";
import { member } from "../rpc/slice.ts";
import { builtinRules } from "../surface/layered-requests.ts";
import { type HidableTool, layeredScope } from "../surface/layered-scope.ts";
import type { Scope } from "../surface/scope.ts";
import { type LayerSource, ScopeLayers } from "../surface/scope-layers.ts";

/** An object with layers in the personal mode. */
type Owner = Config | ServerSpec | undefined;

const NONE: readonly LayerEntry[] = [];
const AT_TOP = "the config";

export class ConfigLayers {
  readonly #clock: Clock;
  readonly #folder: string | undefined;
  #registry: LayerRegistry | undefined;
  #compiled: CompiledLayers | undefined;

  /** `folder` contains the user's own layers. */
  constructor(clock: Clock, folder: string | undefined) {
    this.#clock = clock;
    this.#folder = folder;
  }

  /** Checks the layers of a config, without compiling them. */
  readonly check: LayerCheck = async ({ middleware = NONE, servers }) => {
    const registry = await this.#load();
    await registry.prepare(
      [middleware, ...Array.from(servers.values(), (spec) => spec.middleware ?? NONE)].flat(),
    );
    const top = faultsOf(registry, middleware);
    if (top.length > 0) return top;
    return [...servers].flatMap(([server, { middleware: own = NONE }]) => {
      const [wrong = orderFault(registry, [...middleware, ...own])] = faultsOf(registry, own);
      return wrong ? [{ ...wrong, server }] : [];
    });
  };

  /** Puts the layers of the current config around `handler`. */
  around(config: () => Config, handler: Handler): ScopeLayers<Owner> {
    const source: LayerSource<Owner> = {
      version: config,
      servers: () => [...config().servers.keys()],
      owners: (server) => (server === undefined ? [config()] : [config(), config().servers.get(server)]),
      layers: (owners) => owners.flatMap((owner) => this.#layersOf(owner)),
      facts: (_view, tool) => ({ ...factsOf(tool), uuid: tool.server }),
    };
    return new ScopeLayers({ source, handler, clock: this.#clock });
  }

  #layersOf(owner: Owner): readonly PlacedLayer[] {
    const { middleware = NONE } = owner ?? {};
    if (!owner || middleware.length === 0) return [];
    if (!this.#compiled) throw new Error("the layers of this config were never checked");
    return "servers" in owner
      ? this.#compiled.of("", AT_TOP, middleware)
      : this.#compiled.of(owner.name, `server "${owner.name}"`, middleware);
  }

  async #load(): Promise<LayerRegistry> {
    if (this.#registry) return this.#registry;
    const [{ LayerRegistry: Registry }, { BUILT_IN }, { CustomLayers }, { loadValidator }] =
      await Promise.all([
        import("../middleware/registry.ts"),
        import("../middleware/built-in.ts"),
        import("../middleware/custom-layers.ts"),
        import("../gateway/schema-check.ts"),
      ]);
    const registry = new Registry(BUILT_IN, await loadValidator(), new CustomLayers(this.#folder));
    this.#registry ??= registry;
    this.#compiled ??= new CompiledLayers(this.#registry, { clock: this.#clock });
    return this.#registry;
  }
}

/** The facts of a tool in the personal mode, which come only from its server. */
function factsOf({ server, name, listed }: HidableTool): ToolFacts {
  return {
    server,
    name,
    labels: [],
    // Prompts and resources of a server without tools count as read-only.
    annotations: listed?.annotations ?? (name === "" ? { readOnlyHint: true } : {}),
    definition: listed?.definition,
  };
}

function faultsOf(registry: LayerRegistry, entries: readonly LayerEntry[]): readonly LayerFault[] {
  const wrong = entries.flatMap((entry, at) =>
    registry.check(entry).map(({ path, message }) => ({ message: `middleware/${at}${path} ${message}` })),
  );
  const misplaced = orderFault(registry, entries);
  return misplaced && wrong.length === 0 ? [misplaced] : wrong;
}

function orderFault(registry: LayerRegistry, entries: readonly LayerEntry[]): LayerFault | undefined {
  const [first] = registry.checkOrder(entries);
  return first && { message: `middleware: "${entries[first.at]?.use ?? ""}" ${first.message}` };
}

/** `base.call` must already have the layers around it. */
export function layeredBy(base: Scope, layers: ScopeLayers<unknown>): Scope {
  const refused: Scope["refused"] = ({ server, ...call }) =>
    layers.countRefused(call, base.has(server) ? server : undefined);
  return layeredScope({ ...base, ...builtinRules(layers), refused }, layers);
}

/** Puts layers around calls of the engine. `view` returns the catalog view of a caller. */
export function layeredHandler(layers: ScopeLayers<unknown>, view: Scope["view"]): Handler {
  return (call) => {
    const { server, method, params, origin } = call;
    if (method !== "tools/call") {
      const facts = factsOf({ server, name: isOtherMethod(method) ? method : "", listed: undefined });
      return layers.handle(call, facts);
    }
    const name = call.tool ?? String(fromRaw(member(params, "name") ?? EMPTY_OBJECT));
    const listed = view(origin).snapshot.tool(server, name);
    return layers.handle({ ...call, tool: name }, factsOf({ server, name, listed }));
  };
}
