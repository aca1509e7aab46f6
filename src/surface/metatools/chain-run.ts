/**
 * Runs the steps of a chain, in sequence or in parallel. Starts no step after an error that ends the chain,
 * or after a cancellation.
 */
import { MetaMcpError, mayHaveRun } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { withMember } from "../../rpc/slice.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { execute, isSafe, type StepOutcome } from "./execute.ts";
import { knownTool } from "./known-tool.ts";
import type { ChainPlan, Step } from "./plan.ts";
import { Progress } from "./progress.ts";
import { BadReference } from "./reference-values.ts";
import { resolved } from "./references.ts";
import { RequestTimeout } from "./request-timeout.ts";

const OP = "run_chain";

export interface ChainOutcome {
  /** One entry per step; undefined for a step that was not started. */
  readonly outcomes: readonly (StepOutcome | undefined)[];
  /** The step that ended the chain. */
  readonly failedAt: number | undefined;
}

export class ChainRun {
  readonly #scope: Scope;
  readonly #plan: ChainPlan;
  readonly #request: ClientRequest;
  readonly #meta: Raw | undefined;
  readonly #progress: Progress;
  readonly #outcomes: (StepOutcome | undefined)[];
  readonly #running = new Set<RequestTimeout>();
  #failedAt: number | undefined;
  #done = 0;

  constructor(scope: Scope, plan: ChainPlan, meta: Raw | undefined, request: ClientRequest) {
    this.#scope = scope;
    this.#plan = plan;
    // Each step is recorded as a separate call.
    this.#request = { ...request, via: "chain", trail: undefined, within: request.trail?.trace };
    this.#meta = meta;
    this.#progress = new Progress(request.uplink, meta);
    this.#outcomes = plan.steps.map(() => undefined);
  }

  async run(): Promise<ChainOutcome> {
    const { steps, parallel } = this.#plan;
    this.#report(0, `starting ${steps.length} steps`);
    if (parallel) await this.#runParallel();
    else for (const step of steps) await this.#runStep(step);
    return { outcomes: this.#outcomes, failedAt: this.#failedAt };
  }

  /** Starts each step as soon as the steps that it needs have ended. */
  async #runParallel(): Promise<void> {
    const runs: Promise<void>[] = [];
    for (const step of this.#plan.steps) {
      const needs = step.needs.map((index) => runs[index] ?? Promise.resolve());
      runs.push(
        needs.length === 0 ? this.#runStep(step) : Promise.all(needs).then(() => this.#runStep(step)),
      );
    }
    await Promise.all(runs);
  }

  async #runStep(step: Step): Promise<void> {
    if (this.#failedAt !== undefined || this.#request.signal.aborted) return;
    const outcome = await this.#execute(step);
    this.#outcomes[step.index] = outcome;
    this.#done++;
    if (this.#progress.wanted)
      this.#report(this.#done, `step ${step.index} (${step.name.id}) ${outcome.error ? "failed" : "done"}`);
    if (!outcome.error || this.#plan.continueOnError || this.#failedAt !== undefined) return;
    this.#failedAt = step.index;
    const reason = new MetaMcpError("cancelled", `Step ${step.index} failed, so this one was cancelled.`);
    for (const other of this.#running) other.abort(reason);
  }

  async #execute(step: Step): Promise<StepOutcome> {
    const { name, timeoutMs } = step;
    let args: Raw;
    try {
      args = this.#argumentsOf(step);
    } catch (error) {
      if (!(error instanceof BadReference)) throw error;
      return { durationMs: 0, error: this.#badReference(step, error.message) };
    }
    const timeout = new RequestTimeout(this.#scope.clock, this.#request.signal, timeoutMs);
    this.#running.add(timeout);
    try {
      const request = timeout.applyTo(this.#progress.wanted ? this.#reporting(step) : this.#request);
      const outcome = await execute(this.#scope, { name, args, meta: this.#meta, op: OP }, request);
      const { error } = outcome;
      if (!error) return outcome;
      const late = timeout.expired && error.code === "cancelled";
      return { ...outcome, error: late ? this.#timedOut(step) : error.with({ step_index: step.index }) };
    } finally {
      timeout.release();
      this.#running.delete(timeout);
    }
  }

  /** Converts progress of a step's child to a fraction of the step. */
  #reporting({ index, name }: Step): ClientRequest {
    const uplink = this.#progress.uplink(({ progress, total, message }) => {
      const share = total !== undefined && total > 0 ? Math.min(Math.max(progress / total, 0), 0.99) : 0;
      this.#report(this.#done + share, message ?? `step ${index} (${name.id})`);
    });
    return { ...this.#request, uplink };
  }

  #argumentsOf({ args, references, usePrevious, index }: Step): Raw {
    const made = resolved(args, references, (of) => this.#valueOf(of));
    return usePrevious ? withMember(made, "previous", this.#valueOf(index - 1)) : made;
  }

  #valueOf(step: number): Raw {
    const value = this.#outcomes[step]?.value;
    if (!value) throw new BadReference(`step ${step} failed and has no value`);
    return value;
  }

  #badReference({ index, name }: Step, problem: string): MetaMcpError {
    return new MetaMcpError("validation_input", `Step ${index}: ${problem}.`, {
      op: OP,
      server: name.server,
      tool_id: name.id,
      step_index: index,
    });
  }

  #timedOut({ index, name, timeoutMs }: Step): MetaMcpError {
    const { server, id } = name;
    // If the connection was lost after sending, only a call that is safe to repeat can still be in flight.
    const sent = this.#scope.server(server, this.#request.origin)?.connected ?? true;
    const safe = isSafe(knownTool(this.#scope, name, this.#request.origin));
    const what = sent
      ? `the call was cancelled at the server. ${mayHaveRun(safe ? "safe" : "unknown")}`
      : "its server is not connected yet, and nothing was sent.";
    return new MetaMcpError("timeout", `${id} took longer than timeout_ms (${timeoutMs}); ${what}`, {
      op: OP,
      server,
      tool_id: id,
      step_index: index,
      retryable: !sent || safe,
      mayHaveRun: sent,
    });
  }

  #report(progress: number, message: string): void {
    this.#progress.report({ progress, total: this.#plan.steps.length, message });
  }
}
