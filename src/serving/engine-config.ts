/** The servers of a gateway as the engine takes them: by uuid. */
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Compiled, CompiledServer } from "../gateway/compile.ts";

const known = new WeakMap<CompiledServer, ServerSpec>();

/** `base`: what is configured beside the servers. A server that did not change keeps its spec. */
export function engineConfig(base: Config, { servers }: Pick<Compiled, "servers">): Config {
  return { ...base, exists: true, servers: new Map([...servers.values()].flatMap(entryOf)) };
}

function entryOf(server: CompiledServer): readonly (readonly [string, ServerSpec])[] {
  const spec = engineSpec(server);
  return spec ? [[server.object.uuid, spec]] : [];
}

/** Undefined where it cannot be used. */
export function engineSpec(server: CompiledServer): ServerSpec | undefined {
  if (!server.spec) return undefined;
  let spec = known.get(server);
  if (!spec) {
    spec = Object.freeze({ ...server.spec, id: server.object.uuid });
    known.set(server, spec);
  }
  return spec;
}

/** What people call the server whose tools are searched under that id: its own, or that of a list that single accounts see. */
export function searchedName({ servers }: Pick<Compiled, "servers">, id: string): string | undefined {
  const [server = ""] = id.split("/", 1);
  return servers.get(server)?.object.name;
}
