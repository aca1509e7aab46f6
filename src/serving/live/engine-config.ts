/** The config for the engine, with the servers of the gateway by uuid. */
import type { Config, ServerSpec } from "../../config/spec.ts";
import type { Compiled, CompiledServer } from "../../gateway/compile.ts";
import { perObject } from "../../kernel/per-object.ts";

/** `base` has all settings beside the servers. An unchanged server keeps its spec object. */
export function engineConfig(base: Config, { servers }: Pick<Compiled, "servers">): Config {
  return { ...base, exists: true, servers: new Map([...servers.values()].flatMap(entryOf)) };
}

function entryOf(server: CompiledServer): readonly (readonly [string, ServerSpec])[] {
  const spec = engineSpec(server);
  return spec ? [[server.object.uuid, spec]] : [];
}

/** Undefined if the server cannot be used. */
export const engineSpec = perObject(({ spec, object }: CompiledServer): ServerSpec | undefined =>
  spec ? Object.freeze({ ...spec, id: object.uuid }) : undefined,
);

/**
 * The name of the server for an id in the search index. The id may be that of a list for a single account.
 */
export function searchedName({ servers }: Pick<Compiled, "servers">, id: string): string | undefined {
  const [server = ""] = id.split("/", 1);
  return servers.get(server)?.object.name;
}
