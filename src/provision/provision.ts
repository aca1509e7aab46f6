/** mcp_provision: what is there, else what could be had, and where that is allowed gets it. Runs nothing that was not trusted or said yes to. */
import { signatureOf } from "../catalog/signature.ts";
import { summarize } from "../catalog/summary.ts";
import { adviceOn } from "./advice.ts";
import type { Candidate } from "./candidate.ts";
import { type Installed, Installer, type Waiting, type Workshop } from "./install.ts";
import { type LocalAnswer, type LocalParts, lookLocally } from "./local.ts";
import { isOutdone } from "./outdone.ts";
import { planOf } from "./plan.ts";
import { isRegistryName, type Ranked, rankCandidates } from "./rank.ts";
import { matchOf, questionFor, type Shown } from "./show.ts";
import { type TrustRules, trustIn } from "./trust.ts";
import { readTrust } from "./trust-file.ts";

export interface CandidateSource {
  /** The same list until it changes. `reason`: why there are none, or only old ones. Never rejects. */
  candidates(signal?: AbortSignal): Promise<{
    readonly candidates: readonly Candidate[];
    readonly reason?: string;
  }>;
}

export interface Wanted {
  readonly intent: string;
  readonly context?: string | undefined;
  readonly autoProvision: boolean;
}

export interface Asker extends Waiting {
  /** Puts a question to the person; undefined where the client cannot. */
  readonly ask: ((question: string) => Promise<"yes" | "no" | "none">) | undefined;
}

export interface ProvisionParts extends LocalParts, Workshop {
  readonly registry: CandidateSource;
  readonly gallery: CandidateSource;
}

/** Measured; see docs/provisioning.md. */
const LEAST_FIT = 0.45;
const MOST_MATCHES = 5;
/** What is trusted is taken before what fits better, but not for the sake of being trusted. */
const NEARLY_AS_GOOD = 0.7;
/** What is said beyond this helps no search. */
const LONGEST_TASK = 1_000;
const DESCRIPTION_LENGTH = 200;
/** What stands at the end of more than this is not read before a yes. */
const LONGEST_QUESTION = 4_000;

interface Found {
  readonly matches: readonly Shown[];
  /** What the person or the model should know beside it. */
  readonly notices: readonly string[];
  /** Why nothing may be installed at all. */
  readonly locked: string | undefined;
}

export class Provisioner {
  readonly #parts: ProvisionParts;
  readonly #installer: Installer;

  constructor(parts: ProvisionParts) {
    this.#parts = parts;
    this.#installer = new Installer(parts);
  }

  async provision(wanted: Wanted, asker: Asker): Promise<object> {
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
      const message = ["No server that is configured or known fits this.", ...found.notices].join(" ");
      return { source: "none", message, ...unknown };
    }
    const advice = wanted.autoProvision ? await this.#act(found, asker) : adviceOn(found.matches);
    if (typeof advice !== "string") return answerOf(advice, found);
    const { env } = this.#parts;
    return {
      source: "registry",
      matches: found.matches.map((shown) => matchOf(shown, env)),
      next: found.locked ? `${advice} ${found.locked}` : advice,
      ...(there && { local: there.tools }),
      ...noticeOf(found),
      ...unknown,
    };
  }

  async #isOutdone({ fit }: LocalAnswer, wanted: Wanted): Promise<boolean> {
    const parts = this.#parts;
    const { candidates } = await parts.gallery.candidates();
    const rivals = { candidates, servers: parts.servers(), configPath: parts.configPath() };
    return await isOutdone(fit, refined(wanted), rivals);
  }

  async #find(wanted: Wanted, { signal, report }: Asker): Promise<Found> {
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
      const { rules, notices, locked } = await this.#trust();
      const { env } = this.#parts;
      const matches = await Promise.all(
        fitting.map(async ({ candidate, fit }) => {
          const plan = planOf(candidate, env);
          const configured = await this.#installer.nameOf(plan.entry);
          return { plan, fit, configured, trust: trustIn(rules, candidate) };
        }),
      );
      return { matches, notices: [...told, ...notices], locked };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** In the order of the search that found the best. */
  async #fitting(candidates: readonly Candidate[], wanted: Wanted): Promise<readonly Ranked[]> {
    const answers = await Promise.all(
      refined(wanted).map(async (query) => await rankCandidates(candidates, query, MOST_MATCHES)),
    );
    const bestFit = (ranked: readonly Ranked[]): number => Math.max(0, ...ranked.map(({ fit }) => fit));
    const [best = []] = answers.toSorted((a, b) => bestFit(b) - bestFit(a));
    return best.filter(({ fit }) => fit >= LEAST_FIT);
  }

  /** A file that is not understood may deny what would be asked for: then nothing is. */
  async #trust(): Promise<Pick<Found, "notices" | "locked"> & { rules: TrustRules }> {
    const { home, log } = this.#parts;
    try {
      const { rules, begun, path } = await readTrust(home);
      if (!begun) return { rules, notices: [], locked: undefined };
      const told = `Whom you trust is in ${path} from now on; it begins with ${rules.allow.join(", ")}.`;
      log.info(told);
      return { rules, notices: [told], locked: undefined };
    } catch (error) {
      const { message } = error as Error;
      log.error(`The list of whom you trust cannot be used: ${message}`);
      return { rules: { allow: [], deny: [] }, notices: [], locked: `Nothing can be added: ${message}.` };
    }
  }

  /** What was installed, or what to do instead. */
  async #act({ matches, locked }: Found, asker: Asker): Promise<Installed | string> {
    const advice = adviceOn(matches);
    const allowed = matches.filter(({ trust, plan }) => trust !== "denied" && !plan.flaw);
    const floor = (allowed[0]?.fit ?? 0) * NEARLY_AS_GOOD;
    const ready = allowed.filter(({ plan, fit }) => plan.missing.length === 0 && fit >= floor);
    const trusted = ready.find(({ trust }) => trust === "trusted");
    const [first] = ready;
    if (locked || !first) return advice;
    if (trusted) return await this.#installer.install(trusted.plan, asker);
    // It is the user's own already: nothing to ask for, and nothing to add.
    if (first.configured !== undefined) return adviceOn([first]);
    if (!asker.ask) return `${advice} This client cannot ask its user.`;
    const question = questionFor(first.plan, this.#parts.configPath());
    if (question.length > LONGEST_QUESTION) return `${advice} What it runs is too long to be asked about.`;
    const said = await asker.ask(question);
    if (asker.signal.aborted) throw asker.signal.reason;
    if (said === "yes") return await this.#installer.install(first.plan, asker);
    const { name } = first.plan.candidate;
    return said === "no"
      ? `The person does not want ${name}. Do not try again unless they ask for it.`
      : `The person gave no answer about ${name}. ${advice}`;
  }
}

/** The task as it was put, and with what was said about it: whichever finds more. */
function refined({ intent, context = "" }: Wanted): readonly string[] {
  const task = intent.slice(0, LONGEST_TASK).trim();
  const more = context.slice(0, LONGEST_TASK).trim();
  return more === "" ? [task] : [task, `${task}. ${more}`];
}

function noticeOf({ notices }: Found): { notice?: string } {
  return notices.length > 0 ? { notice: notices.join(" ") } : {};
}

function answerOf({ name, tools }: Installed, found: Found): object {
  return {
    source: "registry",
    installed: name,
    tools: tools.map((tool) => ({
      tool: tool.name,
      description: summarize(tool.description, DESCRIPTION_LENGTH),
      signature: signatureOf(tool.name, tool.inputSchema),
    })),
    ...noticeOf(found),
  };
}
