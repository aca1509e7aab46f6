/**
 * Installs a planned server: tries it in isolation, then writes it to the config and applies it. If a step
 * before the write fails, nothing is left behind.
 */
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
import type { ConfigWriter } from "./config-writer.ts";
import { freeName } from "./free-name.ts";
import { type Plan, planOf } from "./plan.ts";
import { maskOfCandidate } from "./show.ts";

export interface InstallParts {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  readonly writer: ConfigWriter;
  /**
   * Downloads a bundle, checks its checksum and unpacks it. Resolves with the entry to run and the variables
   * that the bundle declares.
   */
  unpack(candidate: Candidate, signal: Signal): Promise<Pick<Candidate, "entry" | "variables">>;
  /** Starts the server in isolation, lists its tools and ends it, also when it is aborted. */
  trial(spec: ServerSpec, signal: Signal): Promise<readonly Tool[]>;
  /** Connects a configured server; resolves with its tools. */
  connect(server: ServerId, origin: Origin): Promise<readonly Tool[]>;
}

export interface Installed {
  readonly name: ServerId;
  readonly tools: readonly Tool[];
}

export interface InstallCaller {
  readonly origin: Origin;
  readonly signal: Signal;
  /** Called with progress messages. */
  readonly report: (message: string) => void;
}

/** For download, start and listing together: as long as a start that installs may take. */
const TRIAL_MS = 300_000;
const REPORT_MS = 2_000;

/** One installation, which several callers may wait for. It is aborted when the last of them cancels. */
interface RunningInstall {
  readonly done: Promise<Installed>;
  readonly signal: CallSignal;
  readonly callers: Set<InstallCaller>;
}

export class Installer {
  readonly #parts: InstallParts;
  readonly #running = new Map<string, RunningInstall>();

  constructor(parts: InstallParts) {
    this.#parts = parts;
  }

  /** Rejects with MetaMcpError. Then nothing runs, and nothing was written unless the message says so. */
  async install(plan: Plan, caller: InstallCaller): Promise<Installed> {
    const key = JSON.stringify([plan.candidate.id, plan.entry, plan.candidate.bundle]);
    const running = this.#running.get(key) ?? this.#begin(key, plan, caller);
    running.callers.add(caller);
    try {
      return await Promise.race([running.done, aborted(caller.signal)]);
    } finally {
      running.callers.delete(caller);
      if (running.callers.size === 0) {
        running.signal.abort(caller.signal.reason);
        if (this.#running.get(key) === running) this.#running.delete(key);
      }
    }
  }

  #begin(key: string, plan: Plan, { origin }: InstallCaller): RunningInstall {
    const signal = new CallSignal();
    const callers = new Set<InstallCaller>();
    const stop = this.#reportProgress(plan.candidate, callers);
    const done = this.#run(plan, origin, signal).finally(stop);
    const running = { done, signal, callers };
    this.#running.set(key, running);
    return running;
  }

  async #run(plan: Plan, origin: Origin, signal: CallSignal): Promise<Installed> {
    const { clock, env, writer } = this.#parts;
    const { candidate } = plan;
    const timer = clock.after(TRIAL_MS, () =>
      signal.abort(new Error(`it was not ready within ${TRIAL_MS} ms`)),
    );
    let written: Installed | undefined;
    try {
      // Fails before anything is downloaded or started if the entry could not be written.
      await writer.check();
      const given = candidate.bundle ? await this.#unpacked(candidate, signal) : plan.entry;
      const { entry } = await writer.confined(given, candidate.from);
      const tried = (await writer.nameOf(entry)) ? [] : await this.#try(candidate, entry, signal);
      if (signal.aborted) throw signal.reason;
      timer.cancel();
      written = { name: await writer.write(candidate, entry), tools: tried };
      await writer.apply(entry);
      return await this.#connected(written, origin);
    } catch (error) {
      const message = maskOfCandidate(candidate, env)(reasonOf(error));
      const text = written
        ? `${written.name} was added to ${writer.location}, but cannot be used yet: ${message}`
        : `${candidate.name} was not added, nothing was written: ${message}`;
      throw new MetaMcpError("server_unavailable", text, { op: "mcp_provision", retryable: false });
    } finally {
      timer.cancel();
    }
  }

  async #connected({ name, tools: tried }: Installed, origin: Origin): Promise<Installed> {
    const { log, writer } = this.#parts;
    log.info(`${name} was added to ${writer.location}`, { server: name });
    const tools = await this.#parts.connect(name, origin).catch((error: Error) => {
      log.warn(`${name} was added, but cannot be connected: ${error.message}`, { server: name });
      return tried;
    });
    return { name, tools };
  }

  /** Variables that only the bundle declares were not shown to the user, so they are not passed to it. */
  async #unpacked(candidate: Candidate, signal: Signal): Promise<Entry> {
    const { entry, variables } = await this.#parts.unpack(candidate, signal);
    const shown = candidate.variables.map(({ name }) => [name, this.#parts.env[name]]);
    const all = [...candidate.variables, ...variables];
    const plan = planOf({ ...candidate, entry, variables: all }, Object.fromEntries(shown) as Env);
    if (plan.flaw) throw new Error(plan.flaw);
    if (plan.missing.length === 0) return plan.entry;
    throw new Error(`the bundle needs ${plan.missing.join(", ")}, which its entry does not declare`);
  }

  async #try(candidate: Candidate, entry: Entry, signal: Signal): Promise<readonly Tool[]> {
    const { context } = this.#parts.writer;
    const { result } = checkServer(freeName(candidate.name, {}), entry, context);
    if (result === "disabled" || "reason" in result)
      throw new Error(result === "disabled" ? "its entry is disabled" : result.reason);
    const tools = await this.#parts.trial({ ...result.spec, connectTimeoutMs: TRIAL_MS }, signal);
    if (tools.length === 0) throw new Error("it started, but has no tools");
    return tools;
  }

  #reportProgress({ name }: Candidate, callers: ReadonlySet<InstallCaller>): () => void {
    const { clock } = this.#parts;
    const since = clock.now();
    const reportAll = (): void => {
      const seconds = Math.round((clock.now() - since) / 1000);
      for (const { report } of callers) report(`installing ${name} …${seconds > 0 ? ` ${seconds} s` : ""}`);
      timer = clock.after(REPORT_MS, reportAll);
    };
    let timer = clock.after(0, reportAll);
    return () => timer.cancel();
  }
}

/** Uses the original cause, because the advice in our error texts is for configured servers. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (MetaMcpError.is(error) && error.code === "auth_required") {
    return "it requires login. Add its entry to the config, then log in with: metamcp auth NAME";
  }
  return error.cause instanceof Error ? error.cause.message : error.message;
}
