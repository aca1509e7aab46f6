/** Exports the whole configuration as one document: names instead of ids, without defaults and secrets. */
import { isDeepStrictEqual } from "node:util";
import { pointer } from "../../kernel/field-problem.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  ANY_OBJECT,
  list,
  named,
  object,
  type Schema,
  type Static,
  TEXTS,
} from "../../kernel/json-schema.ts";
import { atOnce, type Steps } from "../../kernel/steps.ts";
import { settingsOf } from "../changes.ts";
import type { Objects, StoredObject, StoredSecret, StoredWebhook } from "../objects.ts";
import { ENDPOINT, NAMESPACE, SERVER, SETTINGS } from "../schemas.ts";
import { mapTexts, shownText } from "../secret-texts.ts";
import { mapSecrets } from "../secrets.ts";
import { mapRegistry, mapTests } from "../uses.ts";
import { shownWebhooks } from "../webhooks.ts";

type Fields = Readonly<Record<string, unknown>>;

const BY_NAME = { type: "object", additionalProperties: ANY_OBJECT } as const;

export const DOCUMENT = named(
  "Document",
  object(
    { version: { const: 1 }, servers: BY_NAME, namespaces: BY_NAME, endpoints: BY_NAME },
    {
      settings: ANY_OBJECT,
      middleware: list(ANY_OBJECT),
      tests: { ...BY_NAME, description: "policy tests: calls with what the rules must say about them" },
      needs: {
        ...TEXTS,
        description:
          "JSON Pointers to the secrets that were left out. Applying the document keeps the stored secrets",
      },
    },
  ),
);
export type GatewayDocument = Static<typeof DOCUMENT>;

export const SECTIONS = { server: "servers", namespace: "namespaces", endpoint: "endpoints" } as const;

export function exportDocument(objects: Objects): GatewayDocument {
  return atOnce(exportingDocument(objects));
}

/** Pauses between objects. */
export function* exportingDocument(objects: Objects): Steps<GatewayDocument> {
  const needs: string[] = [];
  const { middleware, tests, ...settings } = settingsFields(objects, needs);
  return {
    version: 1,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(middleware === undefined
      ? {}
      : { middleware: middleware as NonNullable<GatewayDocument["middleware"]> }),
    ...(tests === undefined ? {} : { tests: tests as NonNullable<GatewayDocument["tests"]> }),
    servers: yield* section(objects.server, (server) => serverFields(server, needs)),
    namespaces: yield* section(objects.namespace, (namespace) => namespaceFields(namespace, objects)),
    endpoints: yield* section(objects.endpoint, (endpoint) => ({
      ...withoutDefaults(endpoint.spec, ENDPOINT),
      namespaces: endpoint.spec.namespaces.map((uuid) => objects.namespace.get(uuid)?.name ?? uuid),
    })),
    ...(needs.length > 0 ? { needs } : {}),
  };
}

function* section<T extends StoredObject>(
  objects: ReadonlyMap<string, T>,
  fieldsOf: (object: T) => Fields,
): Steps<Readonly<Record<string, Fields>>> {
  const entries: [string, Fields][] = [];
  for (const object of objects.values()) {
    entries.push([object.name, fieldsOf(object)]);
    yield;
  }
  return Object.fromEntries(entries);
}

/** The JSON text of a document. Pauses between objects. */
export function* writingJson(value: unknown, levels = 2): Steps<string> {
  if (levels === 0 || !isRecord(value)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [name, one] of Object.entries(value)) {
    members.push(`${JSON.stringify(name)}:${yield* writingJson(one, levels - 1)}`);
    yield;
  }
  return `{${members.join(",")}}`;
}

function settingsFields(objects: Objects, needs: string[]): Fields {
  const fields = mapSecrets({ ...settingsOf(objects)?.spec }, (_secret, path) => {
    needs.push(pointer("", "settings", ...path));
    return undefined;
  });
  const nameOf = (uuid: string): string => objects.endpoint.get(uuid)?.name ?? uuid;
  const tests = mapTests(settingsOf(objects)?.spec.tests, (test) => ({
    ...test,
    endpoint: nameOf(test.endpoint),
  }));
  const registry = mapRegistry(settingsOf(objects)?.spec.registry, (list, uuid) => [
    list === "servers" ? (objects.server.get(uuid)?.name ?? uuid) : nameOf(uuid),
  ]);
  const hooks = settingsOf(objects)?.spec.notify;
  for (const [at, { secret }] of hooks?.entries() ?? []) {
    needs.push(pointer("", "settings", "notify", at, "url"));
    if (secret !== undefined) needs.push(pointer("", "settings", "notify", at, "secret"));
  }
  const notify = hooks && { notify: shownWebhooks(hooks.map(unsigned)) };
  return withoutDefaults({ ...fields, ...tests, ...registry, ...notify }, SETTINGS);
}

function serverFields({ name, spec }: StoredObject<"server">, needs: string[]): Fields {
  const fields = mapSecrets({ ...spec }, (secret, path) => {
    if (typeof (secret as StoredSecret) === "string") return secret;
    needs.push(pointer("", "servers", name, ...path));
    return undefined;
  });
  const texts = mapTexts(fields, (text, previous, path) => {
    const shown = shownText(text, previous);
    if (shown !== text) needs.push(pointer("", "servers", name, ...path));
    return shown;
  });
  return withoutDefaults(texts, SERVER);
}

function namespaceFields({ spec }: StoredObject<"namespace">, objects: Objects): Fields {
  const nameOf = (uuid: string): string => objects.server.get(uuid)?.name ?? uuid;
  const { servers, tools } = spec;
  return {
    ...withoutDefaults(spec, NAMESPACE),
    servers: Object.fromEntries(servers.map(({ server, ...entry }) => [nameOf(server), entry])),
    ...(tools.length === 0
      ? {}
      : {
          tools: Object.fromEntries(
            tools.map(({ server, tool, ...entry }) => [`${nameOf(server)}:${tool}`, entry]),
          ),
        }),
  };
}

/** Leaves out fields that have their default value. */
function withoutDefaults(fields: object, schema: Schema): Fields {
  const properties = schema["properties"] as Readonly<Record<string, Schema>>;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]: [string, unknown]) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
      const less = own?.["properties"] && isRecord(value) ? withoutDefaults(value, own) : value;
      return own && "default" in own && isDeepStrictEqual(less, own["default"]) ? [] : [[key, less]];
    }),
  );
}

/** The secret is left out, as all secrets are. */
function unsigned(webhook: StoredWebhook): StoredWebhook {
  const { secret: _, ...rest } = webhook;
  return rest;
}
