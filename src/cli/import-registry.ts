/** The servers of a registry, in the form of those of a client. Meant for a registry of one's own. */
import { dirname } from "node:path";
import type { Gathered, GatheredServer, Source } from "../clients/gather.ts";
import { UsageError } from "../config/command-line.ts";
import { systemClock } from "../engine/system-clock.ts";
import type { Candidate } from "../provision/candidate.ts";
import { sandboxOfFile } from "../provision/config-file-writer.ts";
import { type ConfinedIn, confined } from "../provision/confined.ts";
import { newSandbox } from "../provision/new-sandbox.ts";
import { planOf } from "../provision/plan.ts";
import { type RegistrySource, readBase } from "../provision/registry/base.ts";
import { CRAWL_BOUNDS, crawl } from "../provision/registry/crawl.ts";
import { apply, isNameless, readListed } from "../provision/registry/listed.ts";
import { machineOf } from "../provision/registry/registry.ts";
import type { ServerJson } from "../provision/registry/server-json.ts";
import { toCandidate } from "../provision/registry/to-candidate.ts";
import { checkRegistry } from "./registry.ts";

/** A person looks at the list before it is written. */
const BOUNDS = { ...CRAWL_BOUNDS, pages: 5, totalMs: 60_000 };

/** `config`: the file that the servers are for. */
export async function gatherFromRegistry(source: RegistrySource, config: string): Promise<Gathered> {
  checkRegistry(source, "--from-registry");
  const base = readBase(source);
  if (!base) throw new UsageError("--from-registry is not a web address.");
  const place = { client: { id: "registry", title: base.url.host }, file: base.url.href };
  const servers = new Map<string, ServerJson>();
  const flaws: string[] = [];
  const end = await crawl(
    {
      base,
      network: { fetch: globalThis.fetch, clock: systemClock },
      from: { since: undefined, cursor: undefined },
      signal: new AbortController().signal,
      onPage(items) {
        for (const item of items) {
          const listed = readListed(item);
          if (listed) apply(listed, servers);
          if (listed && "flaw" in listed && listed.flaw) flaws.push(listed.flaw);
          else if (isNameless(item)) flaws.push("it has no valid name");
        }
        return Promise.resolve();
      },
    },
    BOUNDS,
  );
  if (end.end !== "whole")
    return {
      found: [],
      skipped: [],
      faults: [`${place.file}: ${reasonOf(end)}`],
      files: [],
      nothing: "The registry was not read.",
    };
  const found: GatheredServer[] = [];
  const skipped: (Source & { reason: string })[] = [];
  const where = {
    folder: dirname(config),
    env: process.env,
    sandbox: { default: await sandboxOfFile(config) },
  };
  for (const server of servers.values()) {
    const candidate = toCandidate(server, machineOf(base, process.env));
    if ("reason" in candidate) skipped.push({ ...place, name: server.name, reason: candidate.reason });
    else if (candidate.bundle)
      skipped.push({ ...place, name: server.name, reason: "bundles are added by mcp_provision" });
    else {
      const { flaw, ...server } = serverOf(candidate, where);
      if (flaw === undefined) found.push({ ...place, ...server });
      else skipped.push({ ...place, name: server.name, reason: flaw });
    }
  }
  const nothing = "The registry has no servers to import.";
  return { found, skipped, faults: [], files: [place.file], nothing, leftOut: linesOf(flaws) };
}

/** One line per reason. An entry is written by a stranger, so its reasons are ours. */
function linesOf(flaws: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const flaw of flaws) counts.set(flaw, (counts.get(flaw) ?? 0) + 1);
  return [...counts].map(
    ([flaw, count]) => `${count} ${count === 1 ? "entry" : "entries"} of the registry left out: ${flaw}`,
  );
}

/**
 * Whoever published an entry decides neither which folders it may touch, nor which variables of the user it
 * gets unless they are named here.
 */
function serverOf(candidate: Candidate, where: ConfinedIn) {
  const { entry: needed, missing, flaw } = planOf(candidate, {});
  const { entry, unconfined } = confined(needed, { ...where, foreign: true });
  const namesPlaces =
    "command" in entry && entry.sandbox === true && typeof newSandbox(entry, where) === "object";
  const [set, unset] = [true, false].map((is) =>
    missing.filter((name) => Boolean(process.env[name]) === is).join(", "),
  );
  const notes = [
    ...(unset ? [`set ${unset} where MetaMCP runs`] : []),
    ...(set ? [`it gets ${set}, which is set here`] : []),
    ...(namesPlaces
      ? ['its arguments name folders or files: allow those that it may touch in its "sandbox"']
      : []),
    ...(unconfined === undefined ? [] : [`it is not confined: ${unconfined}`]),
  ];
  return { name: candidate.name, entry: { ...entry }, notes, flaw };
}

function reasonOf(end: Awaited<ReturnType<typeof crawl>>): string {
  if (end.end === "cut")
    return `${end.reason}. This copies all servers of a small registry; add single ones with metamcp add`;
  if (end.end !== "failed") return "it has no list";
  const refused = end.status === 401 || end.status === 403;
  return refused ? `${end.reason}. Set METAMCP_REGISTRY_TOKEN to a key that it accepts` : end.reason;
}
