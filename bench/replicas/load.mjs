// Sessions that call on and on through the balancer, each call with a key of its own, and what became of the
// calls.
import { setTimeout as pause } from "node:timers/promises";
import { BenchClient, KINDS } from "./clients.mjs";
import { credentials } from "./credentials.mjs";
import { SURFACES } from "./team.mjs";

/** One call in ten takes so long, so that some are under way whenever a replica dies. */
const LONG_MS = 1_500;
/**
 * A call without answer or error for so long is unanswered. Time in which this process, which has all the
 * clients and the balancer, did not get to run does not count.
 */
const PATIENCE_MS = 45_000;
const TICK_MS = 100;
const CONNECTING = 20;
const LAST_ATTEMPTS = 5;

export class SteadyLoad {
  #clients = [];
  #stopping = false;
  #loops = [];
  #calls = 0;
  /** How long this process did not get to run, in all. */
  #stalledMs = 0;
  #ticks;
  /** Keys of answered calls. */
  answered = new Set();
  unanswered = [];
  /** Texts of the errors that clients got. */
  errors = [];
  slowestMs = 0;

  /** Opens the sessions, of all kinds, surfaces and credentials in turn; of those only the ones that match. */
  async open(team, sessions, matches = () => true) {
    const headersOf = await credentials(team);
    for (let n = 0; n < sessions; n++) {
      const surface = SURFACES[Math.floor(n / KINDS.length) % SURFACES.length];
      const credential = Math.floor(n / (KINDS.length * SURFACES.length));
      const kind = KINDS[n % KINDS.length];
      const options = { kind, surface, url: team.balancer.url, headers: headersOf(credential, surface) };
      this.#clients.push(new BenchClient(options));
    }
    this.#clients = this.#clients.filter(matches);
    for (let n = 0; n < this.#clients.length; n += CONNECTING)
      await Promise.all(this.#clients.slice(n, n + CONNECTING).map((client) => client.connect()));
    return this;
  }

  /** `rate`: calls a second of all sessions together. */
  begin(rate) {
    const every = (1_000 * this.#clients.length) / rate;
    let last = Date.now();
    this.#ticks = setInterval(() => {
      this.#stalledMs += Math.max(0, Date.now() - last - TICK_MS);
      last = Date.now();
    }, TICK_MS);
    this.#loops = this.#clients.map(async (client) => {
      await pause(Math.random() * every);
      while (!this.#stopping) {
        await this.#call(client);
        await pause((0.5 + Math.random()) * every);
      }
    });
  }

  /** Waits for the calls under way. */
  async end() {
    this.#stopping = true;
    await Promise.all(this.#loops);
    clearInterval(this.#ticks);
  }

  /** Rejects when the signal aborts. */
  async #patience(signal) {
    const stalledBefore = this.#stalledMs;
    await pause(PATIENCE_MS, undefined, { signal });
    for (let given = 0; given < this.#stalledMs - stalledBefore; given += TICK_MS)
      await pause(TICK_MS, undefined, { signal });
    return "unanswered";
  }

  /** The sessions that got an answer as if they did not exist, or that do not answer a call now. */
  async lost() {
    const lost = [];
    for (let n = 0; n < this.#clients.length; n += CONNECTING)
      await Promise.all(
        this.#clients.slice(n, n + CONNECTING).map(async (client) => {
          const problem = client.lost ?? (await this.#lastCall(client));
          if (problem !== undefined) lost.push(`${client.kind}, ${client.surface}: ${problem}`);
        }),
      );
    return lost;
  }

  /** An overloaded machine may refuse a call for a moment, which is no loss of its session. */
  async #lastCall(client) {
    let problem;
    for (let attempt = 0; attempt < LAST_ATTEMPTS; attempt++) {
      problem = await client.call("read", { key: "last" }).then(() => undefined, String);
      if (problem === undefined) return undefined;
      await pause(1_000);
    }
    return problem;
  }

  async close() {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #call(client) {
    const n = ++this.#calls;
    const key = `call-${n}`;
    const args = n % 10 === 0 ? { key, ms: LONG_MS } : { key };
    const since = Date.now();
    const timer = new AbortController();
    const outcome = await Promise.race([
      client.call(n % 3 === 0 ? "read" : "write", args).then(
        () => "done",
        (error) => error,
      ),
      this.#patience(timer.signal).catch(() => {}),
    ]);
    timer.abort();
    this.slowestMs = Math.max(this.slowestMs, Date.now() - since);
    if (outcome === "done") this.answered.add(key);
    else if (outcome === "unanswered") this.unanswered.push(`${client.kind}, ${client.surface}, ${key}`);
    else this.errors.push(`${client.kind}, ${client.surface}, ${key}: ${outcome.message}`);
  }
}

/** How many errors of which kind. */
export function summary(errors) {
  const counts = new Map();
  for (const text of errors) {
    const kind = /may have run/.test(text)
      ? "may have run"
      : /POSTing to endpoint|HTTP \d+/.test(text)
        ? "HTTP error"
        : (/server_unavailable: [^.]*/.exec(text)?.[0] ?? text.replace(/^.*?call-\d+: /, "").slice(0, 60));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, times]) => `${times} × ${kind}`).join(", ");
}
