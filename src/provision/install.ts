/** From a plan to a running server: tried apart from all others, and only then written down and taken over. A failure leaves nothing behind. */
import type { Tool } from "../catalog/tool.ts";
import { checkServer } from "../config/server.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Env } from "../home/home.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { aborted, CallSignal, type Signal } from "../kernel/signal.ts";
import type { Candidate, Entry } from "./candidate.ts";
import { freeName } from "./free-name.ts";
import type { Ledger } from "./ledger.ts";
import { type Plan, planOf } from "./plan.ts";
import { maskOfCandidate } from "./show.ts";

export interface InstallParts {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** Where it is written down. */
  readonly ledger: Ledger;
  /** Fetches a bundle, compares it with its checksum and unpacks it; resolves with what then runs, and what else it asks for. */
  unpack(candidate: Candidate, signal: Signal): Promise<Pick<Candidate, "entry" | "variables">>;
  /** Starts the server apart from all others, lists its tools and ends it, also when it is aborted. */
  trial(spec: ServerSpec, signal: Signal): Promise<readonly Tool[]>;
  /** Connects a configured server; resolves with its tools. */
  connect(server: ServerId, origin: Origin): Promise<readonly Tool[]>;
}

export interface Installed {
  readonly name: ServerId;
  readonly tools: readonly Tool[];
}

export interface Waiting {
  readonly origin: Origin;
  readonly signal: Signal;
  /** Hears what is under way. */
  readonly report: (message: string) => void;
}

/** Fetching, starting and listing, all in all. */
const TRIAL_MS = 120_000;
const REPORT_MS = 2_000;
/** npx finds a package that was not fetched to its end, and fails over it each time. */
const HALF_FETCHED = /[^\s'"]*[\\/]_npx[\\/][0-9a-f]{16}(?=[\\/])/;

/** One installation, however many wait for it; it ends with the last of them. */
interface Flight {
  readonly done: Promise<Installed>;
  readonly signal: CallSignal;
  readonly waiting: Set<Waiting>;
}

export class Installer {
  readonly #shop: InstallParts;
  readonly #flights = new Map<string, Flight>();

  constructor(shop: InstallParts) {
    this.#shop = shop;
  }

  /** Rejects with MetaMcpError; then nothing runs, and nothing was written unless it says so. */
  async install(plan: Plan, waiting: Waiting): Promise<Installed> {
    const key = JSON.stringify([plan.candidate.id, plan.entry, plan.candidate.bundle]);
    const flight = this.#flights.get(key) ?? this.#begin(key, plan, waiting);
    flight.waiting.add(waiting);
    try {
      return await Promise.race([flight.done, aborted(waiting.signal)]);
    } finally {
      flight.waiting.delete(waiting);
      if (flight.waiting.size === 0) {
        flight.signal.abort(waiting.signal.reason);
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
      }
    }
  }

  #begin(key: string, plan: Plan, { origin }: Waiting): Flight {
    const signal = new CallSignal();
    const waiting = new Set<Waiting>();
    const stop = this.#keepTelling(plan.candidate, waiting);
    const done = this.#run(plan, origin, signal).finally(stop);
    const flight = { done, signal, waiting };
    this.#flights.set(key, flight);
    return flight;
  }

  async #run(plan: Plan, origin: Origin, signal: CallSignal): Promise<Installed> {
    const { clock, env, ledger } = this.#shop;
    const { candidate } = plan;
    const timer = clock.after(TRIAL_MS, () =>
      signal.abort(new Error(`it was not ready within ${TRIAL_MS} ms`)),
    );
    let written: Installed | undefined;
    try {
      // Nothing is fetched and started for what cannot be written down in the end.
      await ledger.check();
      const entry = candidate.bundle ? await this.#unpacked(candidate, signal) : plan.entry;
      const tried = (await ledger.nameOf(entry)) ? [] : await this.#try(candidate, entry, signal);
      if (signal.aborted) throw signal.reason;
      timer.cancel();
      written = { name: await ledger.write(candidate, entry), tools: tried };
      await ledger.take(entry);
      return await this.#connected(written, origin);
    } catch (error) {
      const message = maskOfCandidate(candidate, env)(reasonOf(error));
      const text = written
        ? `${written.name} was added to ${ledger.place}, but cannot be used yet: ${message}`
        : `${candidate.name} was not added, nothing was written: ${message}`;
      throw new MetaMcpError("server_unavailable", text, { op: "mcp_provision", retryable: false });
    } finally {
      timer.cancel();
    }
  }

  async #connected({ name, tools: tried }: Installed, origin: Origin): Promise<Installed> {
    const { log, ledger } = this.#shop;
    log.info(`${name} was added to ${ledger.place}`, { server: name });
    const tools = await this.#shop.connect(name, origin).catch((error: Error) => {
      log.warn(`${name} was added, but cannot be connected: ${error.message}`, { server: name });
      return tried;
    });
    return { name, tools };
  }

  /** What only the bundle itself asks for was shown to nobody, so it gets none of it. */
  async #unpacked(candidate: Candidate, signal: Signal): Promise<Entry> {
    const { entry, variables } = await this.#shop.unpack(candidate, signal);
    const shown = candidate.variables.map(({ name }) => [name, this.#shop.env[name]]);
    const all = [...candidate.variables, ...variables];
    const plan = planOf({ ...candidate, entry, variables: all }, Object.fromEntries(shown) as Env);
    if (plan.flaw) throw new Error(plan.flaw);
    if (plan.missing.length === 0) return plan.entry;
    throw new Error(`the bundle needs ${plan.missing.join(", ")}, which its entry does not declare`);
  }

  async #try(candidate: Candidate, entry: Entry, signal: Signal): Promise<readonly Tool[]> {
    const { around } = this.#shop.ledger;
    const { result } = checkServer(freeName(candidate.name, {}), entry, around);
    if (result === "disabled" || "reason" in result)
      throw new Error(result === "disabled" ? "its entry is disabled" : result.reason);
    const tools = await this.#shop.trial({ ...result.spec, connectTimeoutMs: TRIAL_MS }, signal);
    if (tools.length === 0) throw new Error("it started, but has no tools");
    return tools;
  }

  #keepTelling({ name }: Candidate, waiting: ReadonlySet<Waiting>): () => void {
    const { clock } = this.#shop;
    const since = clock.now();
    const tell = (): void => {
      const seconds = Math.round((clock.now() - since) / 1000);
      for (const { report } of waiting) report(`installing ${name} …${seconds > 0 ? ` ${seconds} s` : ""}`);
      timer = clock.after(REPORT_MS, tell);
    };
    let timer = clock.after(0, tell);
    return () => timer.cancel();
  }
}

/** As it was seen: what a caller of a configured server is told to do is not for this one. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (MetaMcpError.is(error) && error.code === "auth_required") {
    return "it requires login. Add its entry to the config, then log in with: metamcp auth NAME";
  }
  const message = error.cause instanceof Error ? error.cause.message : error.message;
  const half = HALF_FETCHED.exec(message)?.[0];
  return half ? `${message}\nIf an earlier download was interrupted, delete ${half} and try again.` : message;
}
