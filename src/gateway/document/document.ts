/** Exports the whole configuration as one document: names instead of ids, without defaults and secrets. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../kernel/is-record.ts";
import { settingsOf } from "../changes.ts";
import type { Schema } from "../json-schema.ts";
import type { Objects, StoredObject, StoredSecret } from "../objects.ts";
import { pointer } from "../refusal.ts";
import { ENDPOINT, NAMESPACE, SERVER, SETTINGS } from "../schemas.ts";
import { mapTexts, shownText } from "../secret-texts.ts";
import { mapSecrets } from "../secrets.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface GatewayDocument {
  readonly version: 1;
  readonly settings?: Fields;
  readonly middleware?: readonly unknown[];
  readonly servers: Readonly<Record<string, Fields>>;
  readonly namespaces: Readonly<Record<string, Fields>>;
  readonly endpoints: Readonly<Record<string, Fields>>;
  /** JSON Pointers to the secrets that were left out. Applying the document keeps the stored secrets. */
  readonly needs?: readonly string[];
}

export const SECTIONS = { server: "servers", namespace: "namespaces", endpoint: "endpoints" } as const;

export function exportDocument(objects: Objects): GatewayDocument {
  const needs: string[] = [];
  const { middleware, ...settings } = settingsFields(objects, needs);
  return {
    version: 1,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(middleware === undefined ? {} : { middleware: middleware as readonly unknown[] }),
    servers: section(objects.server, (server) => serverFields(server, needs)),
    namespaces: section(objects.namespace, (namespace) => namespaceFields(namespace, objects)),
    endpoints: section(objects.endpoint, (endpoint) => ({
      ...withoutDefaults(endpoint.spec, ENDPOINT),
      namespaces: endpoint.spec.namespaces.map((uuid) => objects.namespace.get(uuid)?.name ?? uuid),
    })),
    ...(needs.length > 0 ? { needs } : {}),
  };
}

function section<T extends StoredObject>(
  objects: ReadonlyMap<string, T>,
  fieldsOf: (object: T) => Fields,
): Readonly<Record<string, Fields>> {
  return Object.fromEntries([...objects.values()].map((object) => [object.name, fieldsOf(object)]));
}

function settingsFields(objects: Objects, needs: string[]): Fields {
  const fields = mapSecrets({ ...settingsOf(objects)?.spec }, (_secret, path) => {
    needs.push(pointer("", "settings", ...path));
    return undefined;
  });
  return withoutDefaults(fields, SETTINGS);
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
