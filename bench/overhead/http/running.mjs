// A process that is measured: what it says, what it costs, and its end.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Of this run; gone with it. */
export const temp = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
const running = new Set();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(temp, { recursive: true, force: true });
});
process.once("SIGINT", () => process.exit(130));

let count = 0;
/** A path of one's own below `temp`. */
export const fresh = (name) => join(temp, `${name}-${++count}`);

export class Running {
  #process;
  #probe = fresh("probe");
  #heard = new Set();
  constructor(name, command, args, env) {
    this.name = name;
    this.said = "";
    this.#process = spawn(command, args, {
      env: { ...process.env, ...env, PROBE_FILE: this.#probe },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout.on("data", (chunk) => this.#hear(chunk));
    this.#process.stderr.on("data", (chunk) => this.#hear(chunk));
    running.add(this.#process);
    this.#process.once("close", () => {
      running.delete(this.#process);
      for (const look of this.#heard) look();
    });
  }
  get pid() {
    return this.#process.pid;
  }
  get ended() {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
  #hear(chunk) {
    this.said = (this.said + chunk).slice(-4000);
    for (const look of this.#heard) look();
  }
  /** Resolves with what matched, at the moment it was said. */
  saying(pattern) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.said)?.[0];
        if (found === undefined && !this.ended) return;
        this.#heard.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`${this.name} ended: ${this.said.slice(-300)}`));
      };
      this.#heard.add(look);
      look();
    });
  }
  /** Resolves with what `attempt` gives, once it does not reject any more. */
  async once(attempt) {
    let trouble;
    for (let i = 0; i < 600 && !this.ended; i++) {
      try {
        return await attempt();
      } catch (error) {
        trouble = error.message;
      }
      await pause(50);
    }
    throw new Error(`${this.name} does not answer: ${trouble ?? ""} ${this.said.slice(-300)}`);
  }
  /** CPU in µs, all threads; children are not in it. */
  cpu() {
    const tasks = `/proc/${this.pid}/task`;
    const ns = (task) => Number(readFileSync(`${tasks}/${task}/schedstat`, "latin1").split(" ", 1)[0]);
    return readdirSync(tasks).reduce((sum, task) => sum + ns(task), 0) / 1_000;
  }
  /** Resident, in bytes. */
  rss() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "latin1"))[1]) * 1024;
  }
  /** Bytes in use after a collection, and resident. Only where the probe is loaded. */
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
  async stop() {
    if (this.ended) return;
    const gone = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 8_000);
    await gone;
    clearTimeout(timer);
  }
}
