/**
 * The endpoints of a gateway, and servers as packages, as an MCP registry lists them (`server.json`), and as
 * drafts of MCP describe servers: a server card and a catalog. Pure.
 */
import type { StoredObject } from "./objects.ts";
import { packageOf, type RegistryPackage } from "./registry-packages.ts";

type Endpoint = StoredObject<"endpoint">;

export interface RegistryEntry {
  readonly server: {
    readonly $schema: string;
    /** In reverse DNS form. */
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly version: string;
    /** Of an endpoint. */
    readonly remotes?: readonly Remote[];
    /** Of a server that others run themselves. */
    readonly packages?: readonly RegistryPackage[];
  };
  readonly _meta: {
    readonly "io.modelcontextprotocol.registry/official": {
      readonly status: "active";
      readonly publishedAt: string;
      readonly updatedAt: string;
      readonly isLatest: true;
    };
  };
}

interface Remote {
  readonly type: "streamable-http";
  readonly url: string;
  readonly headers?: readonly object[];
}

const SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json";
export const CARD_TYPE = "application/mcp-server-card+json";
const MAX_DESCRIPTION = 100;

export interface ListedAt {
  /** The address of the gateway. */
  readonly base: string;
  /** When the lists of the registry last changed (ISO 8601). */
  readonly listedAt: string;
}

export function registryEntry(endpoint: Endpoint, at: ListedAt): RegistryEntry {
  const { name, spec } = endpoint;
  const description = shortened(spec.description) || `MCP endpoint ${name}`;
  const remotes = [remoteOf(endpoint, at.base)];
  return entryOf(endpoint, at, { name: `${namespaceOf(at.base)}/${name}`, description, remotes });
}

/** Undefined if others cannot run it as a package. An endpoint may have the same name. */
export function packageEntry(server: StoredObject<"server">, at: ListedAt): RegistryEntry | undefined {
  const { name, spec } = server;
  const listed = packageOf(spec);
  if (typeof listed === "string") return undefined;
  const description = shortened(spec.description ?? "") || `MCP server ${name}`;
  return entryOf(server, at, {
    name: `${namespaceOf(at.base)}.servers/${name}`,
    description,
    packages: [listed],
  });
}

type Described = Pick<RegistryEntry["server"], "name" | "description" | "remotes" | "packages">;

function entryOf(
  { name: title, revision, createdAt, updatedAt }: Endpoint | StoredObject<"server">,
  { listedAt }: ListedAt,
  { name, description, ...how }: Described,
): RegistryEntry {
  return {
    server: {
      $schema: SERVER_SCHEMA,
      name,
      title,
      description,
      // Clients keep what they read by the version, so each change of the object has its own.
      version: `1.0.${revision}`,
      ...how,
    },
    _meta: {
      "io.modelcontextprotocol.registry/official": {
        status: "active",
        publishedAt: createdAt,
        // A client that asks for changes must see what was listed since, however old it is.
        updatedAt: updatedAt > listedAt ? updatedAt : listedAt,
        isLatest: true,
      },
    },
  };
}

/** A server card (SEP-2127, a draft). */
export function serverCard({ server }: RegistryEntry): object {
  return { ...server, $schema: CARD_SCHEMA };
}

/** An MCP catalog (a draft) of the endpoints among these. */
export function catalogOf(entries: readonly RegistryEntry[], base: string): object {
  return {
    specVersion: "draft",
    entries: entries.flatMap(({ server: { title, remotes = [] } }) =>
      remotes.map(({ url }) => ({
        identifier: `urn:air:${hostOf(base)}:${title}`,
        displayName: title,
        type: CARD_TYPE,
        url: `${url}/server-card`,
      })),
    ),
  };
}

function remoteOf({ name, spec: { access } }: Endpoint, base: string): Remote {
  const url = `${base}/metamcp/${name}/mcp`;
  const needsKey = !access.public && !access.oauth;
  const description = "an API key of the gateway";
  const header = { name: "X-API-Key", description, isRequired: true, isSecret: true };
  return { type: "streamable-http", url, ...(needsKey && { headers: [header] }) };
}

/** `mcp.example.org` → `org.example.mcp`. An address stays as it is. */
function namespaceOf(base: string): string {
  const host = hostOf(base);
  return /^[\d.]+$/.test(host) ? host : host.split(".").toReversed().join(".");
}

/** Only characters that names in a registry may have. */
function hostOf(base: string): string {
  return new URL(base).hostname.replaceAll(/[^A-Za-z0-9.-]+/g, "-").replaceAll(/^-|-$/g, "");
}

function shortened(text: string): string {
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…`;
}
