/**
 * Reconstructs the configs that a gateway served, and when, from its revisions and events. Resolves a tool
 * name in each of them.
 */

import type { EventReader } from "../event-reader.ts";
import type { TeamGateway } from "../team-gateway.ts";
import { until } from "../until.ts";

interface Fields {
  readonly uuid: string;
  readonly name: string;
  readonly disabled?: boolean;
  readonly args?: readonly string[];
  readonly servers?: readonly { readonly server: string; readonly disabled?: boolean }[];
  readonly tools?: readonly {
    readonly server: string;
    readonly tool: string;
    readonly name?: string;
    readonly disabled?: boolean;
  }[];
  readonly newTools?: "enabled" | "disabled";
  readonly namespaces?: readonly string[];
  readonly surface?: string;
  readonly openapi?: boolean;
}

/**
 * One revision, with its objects by uuid. It may be served between `from` (it was stored) and `to` (the next
 * one was applied everywhere).
 */
export interface Config {
  readonly revision: number;
  readonly from: number;
  readonly to: number;
  readonly objects: ReadonlyMap<string, Fields & { readonly kind: string }>;
}

interface DiffRow {
  readonly op: "create" | "update" | "delete";
  readonly kind: string;
  readonly uuid: string;
  readonly fields?: readonly string[];
  readonly after?: Record<string, unknown>;
}

/** `events` must have been read since before the first relevant revision. */
export async function historyOf({ api }: TeamGateway, events: EventReader): Promise<readonly Config[]> {
  const newest = (await api("GET", "/revisions?limit=1")).body.items[0].n as number;
  const served = await until(() => {
    const times = new Map(
      events.events
        .filter(({ type }) => type === "revision")
        .map(({ data }) => [data.revision, Date.parse(data.at)]),
    );
    return times.has(newest) && times;
  });
  let objects: Config["objects"] = new Map();
  const configs: Config[] = [];
  for (let n = 1; n <= newest; n++) {
    const { diff, at } = (await api("GET", `/revisions/${n}`)).body as {
      diff: readonly DiffRow[];
      at: string;
    };
    objects = applyDiff(objects, diff);
    const to: number = served.get(n + 1) ?? (n < newest ? 0 : Number.POSITIVE_INFINITY);
    configs.push({ revision: n, from: Date.parse(at), to, objects });
  }
  return configs;
}

function applyDiff(before: Config["objects"], diff: readonly DiffRow[]): Config["objects"] {
  const objects = new Map(before);
  for (const { op, kind, uuid, fields = [], after: shown = {} } of diff) {
    const changed = Object.fromEntries(fields.map((field) => [field, shown[field]]));
    if (op === "delete") objects.delete(uuid);
    else if (op === "create") objects.set(uuid, { ...(shown as unknown as Fields), kind });
    else objects.set(uuid, { ...objects.get(uuid), ...changed } as Fields & { kind: string });
  }
  return objects;
}

export interface Target {
  /** Name of the server. */
  readonly server: string;
  readonly tool: string;
  readonly args: readonly string[];
}

export function endpointIn({ objects }: Config, name: string): Fields | undefined {
  const found = [...objects.values()].find((one) => one.kind === "endpoint" && one.name === name);
  return found?.disabled ? undefined : found;
}

/**
 * Resolves a public name at an endpoint to one of the tools `toolNames` of a server. Undefined if none has
 * this name.
 */
export function resolve(
  config: Config,
  { endpoint, server, name }: { readonly endpoint: string; readonly server: string; readonly name: string },
  toolNames: readonly string[],
): Target | undefined {
  const { objects } = config;
  const found = [...objects.values()].find((one) => one.kind === "server" && one.name === server);
  if (!found || found.disabled) return undefined;
  // The first namespace that has the server decides.
  for (const uuid of endpointIn(config, endpoint)?.namespaces ?? []) {
    const { servers = [], tools = [], newTools } = objects.get(uuid) ?? {};
    const entry = servers.find((one) => one.server === found.uuid);
    if (!entry) continue;
    if (entry.disabled) return undefined;
    const tool = toolNames.find((one) => {
      const rule = tools.find((other) => other.server === found.uuid && other.tool === one);
      const disabled = rule ? rule.disabled : newTools === "disabled";
      return !disabled && (rule?.name ?? one) === name;
    });
    return tool === undefined ? undefined : { server, tool, args: found.args ?? [] };
  }
  return undefined;
}
