// A measured process: its output, CPU and memory, and its end.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Temporary folder of this run, deleted at exit. */
export const temp = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(temp, { recursive: true, force: true });
});
process.once("SIGINT", () => process.exit(130));

let count = 0;
/** A new unique path in `temp`. */
export const fresh = (name) => join(temp, `${name}-${++count}`);

export class Running {
  #process;
  #probe = fresh("probe");
  #listeners = new Set();
  constructor(name, command, args, env) {
    this.name = name;
    this.output = "";
    this.#process = spawn(command, args, {
      env: { ...process.env, ...env, PROBE_FILE: this.#probe },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout.on("data", (chunk) => this.#receive(chunk));
    this.#process.stderr.on("data", (chunk) => this.#receive(chunk));
    running.add(this.#process);
    this.#process.once("close", () => {
      running.delete(this.#process);
      for (const check of this.#listeners) check();
    });
  }
  get pid() {
    return this.#process.pid;
  }
  get ended() {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
  #receive(chunk) {
    this.output = (this.output + chunk).slice(-4000);
    for (const check of this.#listeners) check();
  }
  /** Resolves with the match as soon as the output contains it. */
  untilOutput(pattern) {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = pattern.exec(this.output)?.[0];
        if (found === undefined && !this.ended) return;
        this.#listeners.delete(check);
        if (found !== undefined) resolve(found);
        else reject(new Error(`${this.name} ended: ${this.output.slice(-300)}`));
      };
      this.#listeners.add(check);
      check();
    });
  }
  /** Repeats `attempt` until it does not reject, and returns its value. */
  async retry(attempt) {
    let problem;
    for (let i = 0; i < 600 && !this.ended; i++) {
      try {
        return await attempt();
      } catch (error) {
        problem = error.message;
      }
      await pause(50);
    }
    throw new Error(`${this.name} does not answer: ${problem ?? ""} ${this.output.slice(-300)}`);
  }
  /** CPU in µs of all threads, without children. */
  cpu() {
    const tasks = `/proc/${this.pid}/task`;
    const ns = (task) => Number(readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ", 1)[0]);
    return readdirSync(tasks).reduce((sum, task) => sum + ns(task), 0) / 1_000;
  }
  /** The processes that it has started and that still run. */
  childPids() {
    const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "latin1");
    return text.trim().split(" ").filter(Boolean).map(Number);
  }
  /** Resident memory in bytes. */
  rss() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "latin1"))[1]) * 1024;
  }
  /** Bytes in use after a garbage collection, and resident memory. Needs the memory probe. */
  async memory() {
    rmSync(this.#probe, { force: true });
    this.#process.kill("SIGUSR2");
    for (;;) {
      try {
        return JSON.parse(readFileSync(this.#probe, "utf8"));
      } catch {
        await pause(20);
      }
    }
  }
  async stop(withinMs = 8_000) {
    if (this.ended) return;
    const closed = this.#closed();
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), withinMs);
    await closed;
    clearTimeout(timer);
  }
  async kill() {
    if (this.ended) return;
    const closed = this.#closed();
    this.#process.kill("SIGKILL");
    await closed;
  }
  #closed() {
    return new Promise((resolve) => this.#process.once("close", resolve));
  }
}
