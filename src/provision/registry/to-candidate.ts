/** A server.json as a candidate: of all the ways to run it the best one for this machine. Looks at no file and no network. */
import type { Candidate, Entry, Variable } from "../candidate.ts";
import { Blanks } from "./blanks.ts";
import { environmentOf } from "./environment.ts";
import { Misfit } from "./misfit.ts";
import { entryOf, RUNNERS } from "./package.ts";
import { readImage, readUrl } from "./pattern.ts";
import { remoteEntry } from "./remote.ts";
import type { Package, RegistryRemote, ServerJson } from "./server-json.ts";

export interface Machine {
  /** Whether a program of that name can be started. */
  has(command: string): boolean;
  /** The registry is reached by http itself, on a network that its owner trusts: what it lists may be too. */
  readonly plain: boolean;
  /** The registry is known to look whether a package is there, and whose it is, before it lists it. */
  readonly checked: boolean;
}

interface Way {
  readonly rank: number;
  readonly entry: Entry;
  readonly variables: readonly Variable[];
  readonly version: string | undefined;
  readonly publishers: readonly string[];
  readonly bundle?: { readonly url: string; readonly sha256: string };
}

/**
 * npm comes first: npx is there wherever we run, and what runs here needs no account elsewhere. Then an address that
 * asks for nothing, since nothing needs to be fetched; then the other runners, lightest first, and a bundle, which
 * brings its own. An address that wants a key comes after all that runs here, and last what lacks its runner.
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

/** Or the reason why there is no way to run it. */
export function toCandidate(server: ServerJson, machine: Machine): Candidate | { readonly reason: string } {
  const name = shortName(server.name);
  const reasons = new Set<string>();
  const attempt = (make: (blanks: Blanks) => Way): Way[] => {
    try {
      return [make(new Blanks(name))];
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      reasons.add(error.message);
      return [];
    }
  };
  const { packages = [], remotes = [] } = server;
  const ways = [
    // A bundle may leave its version to the server; all others name their own.
    ...packages.flatMap((listed) =>
      attempt((blanks) =>
        packageWay(
          listed.registryType === "mcpb" ? { version: server.version, ...listed } : listed,
          blanks,
          machine,
        ),
      ),
    ),
    ...remotes.flatMap((remote) => attempt((blanks) => remoteWay(remote, blanks, machine))),
  ];
  const [best] = ways.toSorted((a, b) => a.rank - b.rank);
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

function packageWay(listed: Package, blanks: Blanks, machine: Machine): Way {
  const { registryType, identifier } = listed;
  if (registryType === "mcpb") return bundleWay(listed, blanks, machine);
  const entry = entryOf({ ...listed, registryType }, blanks);
  const image = registryType === "oci" ? readImage(identifier) : undefined;
  return {
    rank: RANKS[registryType] + (machine.has(RUNNERS[registryType].command) ? 0 : RANKS.missing),
    entry,
    variables: blanks.variables,
    version: listed.version ?? image?.tag ?? image?.digest,
    publishers: [image?.repository ?? identifier],
  };
}

/** What it runs stands in the bundle: until that is unpacked the entry says only where it comes from. */
function bundleWay(listed: Package, blanks: Blanks, machine: Machine): Way {
  const { identifier, version, fileSha256 = "" } = listed;
  if (listed.transport.type !== "stdio") throw new Misfit("the bundle is a remote server with an address");
  if (readUrl(identifier)?.protocol !== "https:" && !machine.plain)
    throw new Misfit("its address is not https");
  const env = environmentOf(listed.environmentVariables, blanks);
  return {
    rank: RANKS.mcpb,
    entry: { command: "mcpb", args: [identifier], ...(Object.keys(env).length > 0 && { env }) },
    variables: blanks.variables,
    version,
    publishers: [identifier],
    bundle: { url: identifier, sha256: fileSha256 },
  };
}

function remoteWay(remote: RegistryRemote, blanks: Blanks, { plain }: Machine): Way {
  const entry = remoteEntry(remote, blanks, plain);
  const { variables } = blanks;
  const rank = variables.some(({ required }) => required) ? RANKS.remote : RANKS.openRemote;
  // The deprecated transport only where there is no other.
  return {
    rank: rank + (remote.type === "sse" ? RANKS.sse : 0),
    entry,
    variables,
    version: undefined,
    publishers: [],
  };
}

const SAYS_NOTHING = /^(?:mcp|server|mcp[._-]?server|server[._-]?mcp|metamcp)$/i;

/** The last part of the name, or who it is from where that part says nothing. */
function shortName(id: string): string {
  const [namespace = "", own = ""] = id.split("/");
  const name = SAYS_NOTHING.test(own) ? (namespace.split(".").at(-1) ?? own) : own;
  return name.slice(0, 64).replaceAll(/__+/g, "_").toLowerCase();
}
