/**
 * Adds a server to a namespace, and creates the server if the gateway has none with the same program or URL.
 * A pure change.
 */
import { isDeepStrictEqual } from "node:util";
import { create, patch } from "./changes.ts";
import { nameKey } from "./names.ts";
import type { Objects, StoredObject } from "./objects.ts";
import { present } from "./present.ts";
import { type ChangeContext, type ChangeOutcome, changesBetween } from "./settle.ts";

export interface JoinRequest {
  /** The preferred name of the server. */
  readonly name: string;
  readonly description: string;
  /** The entry, as in an `.mcp.json`. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** A uuid or a name. */
  readonly namespace: string;
}

export interface JoinOutcome extends ChangeOutcome {
  readonly server: StoredObject<"server">;
}

export function joinServer(before: Objects, joining: JoinRequest, context: ChangeContext): JoinOutcome {
  const { entry, namespace, description } = joining;
  const known = [...before.server.values()].find((server) => runsSame(server, entry));
  const made = known
    ? { objects: before, object: known }
    : create(before, "server", { ...entry, name: freeName(before, joining.name), description }, context);
  const { uuid } = made.object;
  const at = { kind: "namespace" as const, reference: namespace };
  const { object } = patch(made.objects, at, {}, context);
  const there = object.spec.servers.some(({ server }) => server === uuid);
  const servers = [...object.spec.servers, { server: uuid }];
  const { objects } = there ? made : patch(made.objects, at, { servers }, context);
  const server = objects.server.get(uuid) ?? made.object;
  return { objects, changes: changesBetween(before, objects), server };
}

/** The fields that identify the program or the URL. Values of variables do not count. */
const TARGET_FIELDS = ["type", "command", "args", "url", "openapi", "baseUrl"] as const;

export function runsSame(server: StoredObject<"server">, entry: Readonly<Record<string, unknown>>): boolean {
  const shown = present(server);
  return TARGET_FIELDS.every((key) => isDeepStrictEqual(shown[key], entry[key]));
}

export function freeName({ server }: Objects, wanted: string): string {
  const taken = new Set([...server.values()].map(({ name }) => nameKey(name)));
  const plain = wanted.replaceAll(/[\p{Cc}\p{Cs}/:]+/gu, "-").slice(0, 120) || "server";
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : `${plain}-${count}`;
    if (!taken.has(nameKey(name))) return name;
  }
}
