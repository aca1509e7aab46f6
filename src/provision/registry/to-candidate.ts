/**
 * Turns a server.json into a candidate: chooses the best way to run it on this machine. Reads no file and
 * uses no network.
 */
import type { Candidate, Entry, Variable } from "../candidate.ts";
import { withKeepAlive } from "../stateful-server.ts";
import { environmentOf } from "./environment.ts";
import { entryOf, RUNNERS } from "./package.ts";
import { isHeaderName, readImage, readUrl } from "./pattern.ts";
import { Placeholders } from "./placeholders.ts";
import type { Package, RegistryRemote, ServerJson } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

export interface Machine {
  /** Whether a program with that name is on the PATH. */
  has(command: string): boolean;
  /** True if the registry itself uses http, on a trusted network. Then its servers may use http too. */
  readonly plain: boolean;
  /** True if the registry checks that a package exists and belongs to the publisher before it lists it. */
  readonly checked: boolean;
}

interface RunVariant {
  readonly rank: number;
  readonly entry: Entry;
  readonly variables: readonly Variable[];
  readonly version: string | undefined;
  readonly publishers: readonly string[];
  readonly bundle?: { readonly url: string; readonly sha256: string };
}

/**
 * Lower is better. npm comes first, because npx exists wherever MetaMCP runs and a local server needs no
 * account. Then a remote without required variables, because nothing must be downloaded; then the other
 * runners, lightest first, and bundles. A remote that needs a key comes after everything local. Variants
 * without their runner come last.
 */
const RANKS = {
  npm: 0,
  openRemote: 1,
  pypi: 2,
  nuget: 3,
  mcpb: 4,
  oci: 5,
  remote: 6,
  missing: 10,
  sse: 0.5,
} as const;

/** Returns the reason if there is no way to run it. */
export function toCandidate(server: ServerJson, machine: Machine): Candidate | { readonly reason: string } {
  const name = shortName(server.name);
  const reasons = new Set<string>();
  const attempt = (make: (placeholders: Placeholders) => RunVariant): RunVariant[] => {
    try {
      return [make(new Placeholders(name))];
    } catch (error) {
      if (!(error instanceof UnsupportedEntry)) throw error;
      reasons.add(error.message);
      return [];
    }
  };
  const { packages = [], remotes = [] } = server;
  const variants = [
    // A bundle may omit its version and then has the server's. All other packages have their own.
    ...packages.flatMap((listed) =>
      attempt((placeholders) =>
        packageVariant(
          listed.registryType === "mcpb" ? { version: server.version, ...listed } : listed,
          placeholders,
          machine,
        ),
      ),
    ),
    ...remotes.flatMap((remote) => attempt((placeholders) => remoteVariant(remote, placeholders, machine))),
  ];
  const [best] = variants.toSorted((a, b) => a.rank - b.rank);
  if (!best) return { reason: [...reasons].join("; ") || "it has no supported package or address" };
  const link = server.repository?.url ?? server.websiteUrl;
  return {
    id: server.name,
    name,
    ...(server.title && { title: server.title }),
    description: server.description,
    from: "registry",
    version: best.version,
    publishers: [server.name, ...best.publishers],
    verified: machine.checked && best.version !== undefined,
    entry: best.entry,
    variables: best.variables,
    ...(link && { link }),
    ...(best.bundle && { bundle: best.bundle }),
  };
}

function packageVariant(listed: Package, placeholders: Placeholders, machine: Machine): RunVariant {
  const { registryType, identifier } = listed;
  if (registryType === "mcpb") return bundleVariant(listed, placeholders, machine);
  const entry = withKeepAlive(entryOf({ ...listed, registryType }, placeholders));
  const image = registryType === "oci" ? readImage(identifier) : undefined;
  return {
    rank: RANKS[registryType] + (machine.has(RUNNERS[registryType].command) ? 0 : RANKS.missing),
    entry,
    variables: placeholders.variables,
    version: listed.version ?? image?.tag ?? image?.digest,
    publishers: [image?.repository ?? identifier],
  };
}

/** The command is in the bundle. Until it is unpacked, the entry contains only its address. */
function bundleVariant(listed: Package, placeholders: Placeholders, machine: Machine): RunVariant {
  const { identifier, version, fileSha256 = "" } = listed;
  if (listed.transport.type !== "stdio")
    throw new UnsupportedEntry("the bundle is a remote server with an address");
  if (readUrl(identifier)?.protocol !== "https:" && !machine.plain)
    throw new UnsupportedEntry("its address is not https");
  const env = environmentOf(listed.environmentVariables, placeholders);
  return {
    rank: RANKS.mcpb,
    entry: { command: "mcpb", args: [identifier], ...(Object.keys(env).length > 0 && { env }) },
    variables: placeholders.variables,
    version,
    publishers: [identifier],
    bundle: { url: identifier, sha256: fileSha256 },
  };
}

function remoteVariant(remote: RegistryRemote, placeholders: Placeholders, { plain }: Machine): RunVariant {
  const entry = remoteEntry(remote, placeholders, plain);
  const { variables } = placeholders;
  const rank = variables.some(({ required }) => required) ? RANKS.remote : RANKS.openRemote;
  // SSE is deprecated, so it is used only if there is no other transport.
  return {
    rank: rank + (remote.type === "sse" ? RANKS.sse : 0),
    entry,
    variables,
    version: undefined,
    publishers: [],
  };
}

const GENERIC_NAME = /^(?:mcp|server|mcp[._-]?server|server[._-]?mcp|metamcp)$/i;

/** The last part of the name, or the publisher if that part is generic. */
function shortName(id: string): string {
  const [namespace = "", own = ""] = id.split("/");
  const name = GENERIC_NAME.test(own) ? (namespace.split(".").at(-1) ?? own) : own;
  return name.slice(0, 64).replaceAll(/__+/g, "_").toLowerCase();
}

/** `plain`: http is allowed, because the registry itself uses http. */
function remoteEntry(
  { type, url, headers = [], variables = {} }: RegistryRemote,
  placeholders: Placeholders,
  plain: boolean,
): Entry {
  const address = placeholders.fill(url, { isRequired: true, variables });
  checkAddress(address, plain);
  const written = headers.map((header) => {
    if (!isHeaderName(header.name)) throw new UnsupportedEntry("the name of a header is invalid");
    return [header.name, placeholders.textOf(header, header.name)] as const;
  });
  return {
    type: type === "sse" ? "sse" : "http",
    url: address,
    ...(written.length > 0 && { headers: Object.fromEntries(written) }),
  };
}

function checkAddress(address: string, plain: boolean): void {
  // An address that the user provides completely is not checked.
  if (address.startsWith("${")) return;
  const url = readUrl(address.replaceAll(/\$\{[A-Za-z_]\w*\}/g, "x"));
  if (!url || /[{}]/.test(address.replaceAll(/\$\{\w+\}/g, "")))
    throw new UnsupportedEntry("its address is invalid");
  if (url.protocol !== "https:" && !plain) throw new UnsupportedEntry("its address is not https");
}
