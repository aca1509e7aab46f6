/** mcp_provision: what is there, else what could be had, and where that is allowed gets it. Runs nothing that was not trusted or said yes to. */

import { signatureOf } from "../catalog/signature.ts";
import { summarize } from "../catalog/summary.ts";
import { makeFolder } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import type { Candidate } from "./candidate.ts";
import { type LocalAnswer, type LocalParts, lookLocally } from "./local.ts";
import { isOutdone } from "./outdone.ts";
import { planOf } from "./plan.ts";
import { isRegistryName, type RankedCandidate, rankCandidates } from "./rank.ts";
import type { Added, ProvisionCaller, Shop, ShopFindings } from "./shop.ts";
import { matchOf } from "./show.ts";
import { type TrustRules, trustIn } from "./trust.ts";
import { readTrust } from "./trust-file.ts";

export interface CandidateSource {
  /** The same list until it changes. `reason`: why there are none, or only old ones. Never rejects. */
  candidates(signal?: AbortSignal): Promise<{
    readonly candidates: readonly Candidate[];
    readonly reason?: string;
  }>;
}

export interface ProvisionQuery {
  readonly intent: string;
  readonly context?: string | undefined;
  readonly autoProvision: boolean;
}

export interface ProvisionParts extends LocalParts {
  readonly home: string;
  readonly env: Env;
  readonly log: Log;
  readonly registry: CandidateSource;
  readonly gallery: CandidateSource;
  readonly shop: Shop;
}

/** Measured; see docs/provisioning.md. */
const LEAST_FIT = 0.47;
const MOST_MATCHES = 5;
/** What is said beyond this helps no search. */
const LONGEST_TASK = 1_000;
const DESCRIPTION_LENGTH = 200;

export class Provisioner {
  readonly #parts: ProvisionParts;

  constructor(parts: ProvisionParts) {
    this.#parts = parts;
  }

  async provision(wanted: ProvisionQuery, asker: ProvisionCaller): Promise<object> {
    const local = isRegistryName(wanted.intent)
      ? undefined
      : await lookLocally(this.#parts, refined(wanted), asker.origin);
    const unknown = local && local.unknown.length > 0 ? { unknown: local.unknown } : {};
    const there =
      local && local.tools.length > 0 ? { source: "local", tools: local.tools, ...unknown } : undefined;
    if (local && there && !(await this.#isOutdone(local, wanted))) return there;
    const found = await this.#find(wanted, asker);
    if (found.matches.length === 0) {
      if (there) return there;
      const message = ["Found no server for this task.", ...found.notices].join(" ");
      return { source: "none", message, ...unknown };
    }
    const { env, shop } = this.#parts;
    const done = wanted.autoProvision
      ? await shop.add(found, asker)
      : { next: shop.advise(found.matches), more: {} };
    if ("name" in done) return answerOf(done, found);
    return {
      source: "registry",
      ...done.more,
      matches: found.matches.map((shown) => matchOf(shown, env)),
      next: found.locked ? `${done.next} ${found.locked}` : done.next,
      ...(there && { local: there.tools }),
      ...noticeOf(found),
      ...unknown,
    };
  }

  async #isOutdone({ fit }: LocalAnswer, wanted: ProvisionQuery): Promise<boolean> {
    const parts = this.#parts;
    const { candidates } = await parts.gallery.candidates();
    const rivals = { candidates, servers: parts.servers(), configured: () => parts.shop.configured() };
    return await isOutdone(fit, refined(wanted), rivals);
  }

  async #find(wanted: ProvisionQuery, { signal, report }: ProvisionCaller): Promise<ShopFindings> {
    const abort = new AbortController();
    const onAbort = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      const { registry, gallery } = this.#parts;
      report("looking in the registry …");
      const listed = await registry.candidates(abort.signal);
      if (signal.aborted) throw signal.reason;
      let fitting = await this.#fitting(listed.candidates, wanted);
      if (fitting.length === 0)
        fitting = await this.#fitting((await gallery.candidates()).candidates, wanted);
      const told = listed.reason ? [listed.reason] : [];
      if (fitting.length === 0) return { matches: [], notices: told, locked: undefined };
      const { rules, locked } = await this.#trust();
      const { env, shop } = this.#parts;
      const matches = await Promise.all(
        fitting.map(async ({ candidate, fit }) => {
          const plan = planOf(candidate, env);
          const configured = await shop.nameOf(plan.entry);
          return { plan, fit, configured, trust: trustIn(rules, candidate) };
        }),
      );
      return { matches, notices: told, locked };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** In the order of the search that found the best. */
  async #fitting(
    candidates: readonly Candidate[],
    wanted: ProvisionQuery,
  ): Promise<readonly RankedCandidate[]> {
    const answers = await Promise.all(
      refined(wanted).map(async (query) => await rankCandidates(candidates, query, MOST_MATCHES)),
    );
    const bestFit = (ranked: readonly RankedCandidate[]): number =>
      Math.max(0, ...ranked.map(({ fit }) => fit));
    const [best = []] = answers.toSorted((a, b) => bestFit(b) - bestFit(a));
    return best.filter(({ fit }) => fit >= LEAST_FIT);
  }

  /** A file that is not understood may deny what would be asked for: then nothing is. */
  async #trust(): Promise<Pick<ShopFindings, "locked"> & { rules: TrustRules }> {
    const { home, log, shop } = this.#parts;
    const withheld = shop.withheld();
    try {
      // Nobody is asked for a yes that could not be carried out.
      await makeFolder(home);
      const { rules } = await readTrust(home);
      return { rules, locked: withheld && `Nothing can be added: ${withheld}.` };
    } catch (error) {
      const { message } = error as Error;
      log.error(`No server can be added: ${message}`);
      return { rules: { allow: [], deny: [] }, locked: `Nothing can be added: ${message}.` };
    }
  }
}

/** The task as it was put, and with what was said about it: whichever finds more. */
function refined({ intent, context = "" }: ProvisionQuery): readonly string[] {
  const task = intent.slice(0, LONGEST_TASK).trim();
  const more = context.slice(0, LONGEST_TASK).trim();
  return more === "" ? [task] : [task, `${task}. ${more}`];
}

function noticeOf({ notices }: ShopFindings): { notice?: string } {
  return notices.length > 0 ? { notice: notices.join(" ") } : {};
}

function answerOf({ name, tools, from }: Added, found: ShopFindings): object {
  return {
    source: "registry",
    from,
    installed: name,
    tools: tools.map((tool) => ({
      tool: tool.name,
      description: summarize(tool.description, DESCRIPTION_LENGTH),
      signature: signatureOf(tool.name, tool.inputSchema),
    })),
    ...noticeOf(found),
  };
}
