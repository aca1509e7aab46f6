/**
 * Chooses the backend that runs code, never a weaker one than configured. Loads and probes nothing before the
 * first run.
 */
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { CodeRun, Executor, Outcome } from "./executor.ts";
import type { RunUser } from "./host-process.ts";

export interface ExecutorChoice {
  /** Default: WASM. */
  readonly profile?: "standard" | "dev" | undefined;
  readonly backend?: "wasm" | "docker" | undefined;
  /** Whether the standard profile may use WASM if Docker does not answer. */
  readonly wasmEnabled?: boolean;
}

export interface ChooseParts {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * The user that code runs as, except in Docker, whose containers have their own. Default: that of this
   * process.
   */
  readonly user?: RunUser | undefined;
}

export class LazyExecutor implements Executor {
  readonly #choice: ExecutorChoice;
  readonly #parts: ChooseParts;
  #chosen: Promise<Executor> | undefined;
  #ready: Executor | undefined;
  #closed = false;

  constructor(choice: ExecutorChoice, parts: ChooseParts) {
    this.#choice = choice;
    this.#parts = parts;
  }

  async run(run: CodeRun): Promise<Outcome> {
    this.#chosen ??= choose(this.#choice, this.#parts);
    try {
      this.#ready = await this.#chosen;
    } catch (error) {
      // Docker may be available at the next run.
      this.#chosen = undefined;
      return refused((error as Error).message);
    }
    if (this.#closed) this.#ready.killNow();
    return await this.#ready.run(run);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#ready?.close();
  }

  killNow(): void {
    this.#closed = true;
    this.#ready?.killNow();
  }
}

async function choose(
  { profile, backend, wasmEnabled = true }: ExecutorChoice,
  parts: ChooseParts,
): Promise<Executor> {
  if (backend === undefined && profile === "dev")
    return (await import("./process.ts")).createProcessExecutor(parts);
  if (backend === "docker" || (backend === undefined && profile === "standard")) {
    const { createDockerExecutor, dockerAnswers, IMAGE } = await import("./docker.ts");
    if (await dockerAnswers()) return createDockerExecutor(parts);
    if (backend === "docker")
      throw new Error(`METAMCP_RUNTIME_BACKEND=docker, but Docker does not run or does not have ${IMAGE}.`);
    if (!wasmEnabled)
      throw new Error(
        `Docker does not run or does not have ${IMAGE}, and METAMCP_WASM_ENABLED=false turns off WASM.`,
      );
  }
  return (await import("./wasm.ts")).createWasmExecutor(parts);
}

function refused(message: string): Outcome {
  const nothing = { value: undefined, logs: [], calls: [], durationMs: 0, enforced: [], unsafe: false };
  return { ...nothing, backend: "none", error: { code: "no_backends", message } };
}
