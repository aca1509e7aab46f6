/**
 * mcp_provision: finds configured tools for a task, else servers that could be added, and adds one if that is
 * allowed. Runs nothing that is neither trusted nor confirmed by the user.
 */

import { signatureOf } from "../catalog/signature.ts";
import { summarize } from "../catalog/summary.ts";
import { makeFolder } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { hasBetterCandidate } from "./better-candidate.ts";
import type { Candidate } from "./candidate.ts";
import { type LocalAnswer, type LocalParts, searchLocal } from "./local.ts";
import { type Plan, planOf } from "./plan.ts";
import type { Added, Findings, ProvisionCaller, ProvisionPolicy } from "./provision-policy.ts";
import { isRegistryName, MIN_FIT, type RankedCandidate, rankCandidates } from "./rank.ts";
import { matchOf } from "./show.ts";
import { type TrustRules, trustIn } from "./trust.ts";
import { readTrust } from "./trust-file.ts";

export interface CandidateSource {
  /** Returns the same array until it changes. `reason`: why it is empty or outdated. Never rejects. */
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
  readonly policy: ProvisionPolicy;
}

const MAX_MATCHES = 5;
/** Longer texts do not improve the search. */
const MAX_TASK_LENGTH = 1_000;
const DESCRIPTION_LENGTH = 200;

export class Provisioner {
  readonly #parts: ProvisionParts;

  constructor(parts: ProvisionParts) {
    this.#parts = parts;
  }

  async provision(query: ProvisionQuery, asker: ProvisionCaller): Promise<object> {
    const local = isRegistryName(query.intent)
      ? undefined
      : await searchLocal(this.#parts, searchQueries(query), asker.origin);
    const unknown = local && local.unknown.length > 0 ? { unknown: local.unknown } : {};
    const localAnswer =
      local && local.tools.length > 0 ? { source: "local", tools: local.tools, ...unknown } : undefined;
    if (local && localAnswer && !(await this.#hasBetterCandidate(local, query))) return localAnswer;
    const found = await this.#find(query, asker);
    if (found.matches.length === 0) {
      if (localAnswer) return localAnswer;
      const message = ["Found no server for this task.", ...found.notices].join(" ");
      return { source: "none", message, ...unknown };
    }
    const { env, policy } = this.#parts;
    const done = query.autoProvision
      ? await policy.add(found, asker)
      : { next: policy.advise(found.matches), more: {} };
    if ("name" in done) return answerOf(done, found);
    return {
      source: "registry",
      ...done.more,
      matches: found.matches.map((shown) => matchOf(shown, env)),
      next: found.locked ? `${done.next} ${found.locked}` : done.next,
      ...(localAnswer && { local: localAnswer.tools }),
      ...noticeOf(found),
      ...unknown,
    };
  }

  async #hasBetterCandidate({ fit }: LocalAnswer, query: ProvisionQuery): Promise<boolean> {
    const parts = this.#parts;
    const { candidates } = await parts.gallery.candidates();
    const compared = { candidates, servers: parts.servers(), configured: () => parts.policy.configured() };
    return await hasBetterCandidate(fit, searchQueries(query), compared);
  }

  async #find(query: ProvisionQuery, { signal, report }: ProvisionCaller): Promise<Findings> {
    const abort = new AbortController();
    const onAbort = (): void => abort.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      const { registry, gallery } = this.#parts;
      report("looking in the registry …");
      const listed = await registry.candidates(abort.signal);
      if (signal.aborted) throw signal.reason;
      let fitting = await this.#fitting(listed.candidates, query);
      if (fitting.length === 0) fitting = await this.#fitting((await gallery.candidates()).candidates, query);
      const notices = listed.reason ? [listed.reason] : [];
      if (fitting.length === 0) return { matches: [], notices, locked: undefined };
      const { rules, locked } = await this.#trust();
      const { env, policy } = this.#parts;
      const matches = await Promise.all(
        fitting.map(async ({ candidate, fit }) => {
          const planned = planOf(candidate, env);
          const plan: Plan = { ...planned, ...(await policy.confined(planned.entry, candidate.from)) };
          const configured = await policy.nameOf(plan.entry);
          return { plan, fit, configured, trust: trustIn(rules, candidate) };
        }),
      );
      return { matches, notices, locked };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** The candidates above the minimum fit, from the query with the best match. */
  async #fitting(
    candidates: readonly Candidate[],
    query: ProvisionQuery,
  ): Promise<readonly RankedCandidate[]> {
    const answers = await Promise.all(
      searchQueries(query).map(async (text) => await rankCandidates(candidates, text, MAX_MATCHES)),
    );
    const bestFit = (ranked: readonly RankedCandidate[]): number =>
      Math.max(0, ...ranked.map(({ fit }) => fit));
    const [best = []] = answers.toSorted((a, b) => bestFit(b) - bestFit(a));
    return best.filter(({ fit }) => fit >= MIN_FIT);
  }

  /** If the trust file is invalid, nothing may be added, because it might deny the candidate. */
  async #trust(): Promise<Pick<Findings, "locked"> & { rules: TrustRules }> {
    const { home, log, policy } = this.#parts;
    const withheld = policy.withheld();
    try {
      // Fails before the user is asked if the home folder cannot be written.
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

/** The task alone, and the task with its context. The query with the better match is used. */
function searchQueries({ intent, context = "" }: ProvisionQuery): readonly string[] {
  const task = intent.slice(0, MAX_TASK_LENGTH).trim();
  const more = context.slice(0, MAX_TASK_LENGTH).trim();
  return more === "" ? [task] : [task, `${task}. ${more}`];
}

function noticeOf({ notices }: Findings): { notice?: string } {
  return notices.length > 0 ? { notice: notices.join(" ") } : {};
}

function answerOf({ name, tools, from }: Added, found: Findings): object {
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
