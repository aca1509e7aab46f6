/** Reads the `middleware` lists of a config. The options of the layers are checked by a LayerCheck. */
import { type Findings, isKeys, type Keys, kindOf } from "./field.ts";
import type { Config, LayerEntry } from "./spec.ts";

/** An invalid layer. `server` is undefined for a layer at the top level of the file. */
export interface LayerFault {
  readonly server?: string;
  readonly message: string;
}

/** Checks the layers of a config. */
export type LayerCheck = (config: Config) => Promise<readonly LayerFault[]>;

/** Empty if there is no such key. */
export function layersIn(
  { middleware }: Keys,
  findings: Findings,
): { readonly middleware?: readonly LayerEntry[] } {
  if (middleware === undefined) return {};
  if (!Array.isArray(middleware)) {
    findings.fault(
      ["middleware"],
      `middleware is ${kindOf(middleware)}: write a list, "middleware": [{ "use": "…" }]`,
    );
    return {};
  }
  const wrong = middleware.findIndex((entry) => !isKeys(entry) || typeof entry["use"] !== "string");
  if (wrong >= 0) {
    findings.fault(
      ["middleware", wrong],
      `middleware[${wrong}] has no layer name: write { "use": "NAME", … }`,
    );
    return {};
  }
  return { middleware: middleware as readonly LayerEntry[] };
}

export function hasLayers({ middleware, servers }: Pick<Config, "middleware" | "servers">): boolean {
  return [middleware, ...Array.from(servers.values(), (spec) => spec.middleware)].some(
    (list) => list !== undefined && list.length > 0,
  );
}

/** Without a check, entries with layers are refused. */
const UNCHECKED: LayerCheck = async ({ middleware, servers }) => {
  const message = "its middleware cannot be checked here";
  const named = [...servers].flatMap(([server, spec]) => (spec.middleware ? [{ server, message }] : []));
  return middleware ? [{ message }, ...named] : named;
};

/**
 * Moves servers with invalid layers to `broken`. Invalid layers at the top level are returned as faults of
 * the file.
 */
export async function checkedLayers(
  config: Config,
  check: LayerCheck = UNCHECKED,
): Promise<{ readonly config: Config; readonly faults: readonly string[] }> {
  if (!hasLayers(config)) return { config, faults: [] };
  const found = await check(config);
  const faults = found.flatMap(({ server, message }) => (server === undefined ? [message] : []));
  const broken = new Map(config.broken);
  for (const { server, message } of found) if (server !== undefined) broken.set(server, message);
  const servers = new Map([...config.servers].filter(([name]) => !broken.has(name)));
  return { config: Object.freeze({ ...config, servers, broken }), faults };
}
