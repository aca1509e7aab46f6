// The stdio client for measurements: raw lines to one process, as cheap as possible, so that it does not
// dominate the measurement.
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const HEAD = 48;

export class Wire {
  #process;
  #lastId = 0;
  /** Pending calls of `request`, by id. Lines are stored and parsed only while there are any. */
  #waiting = new Map();
  #parts = [];
  #head = "";
  #length = 0;
  /** Called with the length of each answer during `calls`. */
  #onAnswer;
  #onTurn;

  constructor({ command, args, env }) {
    this.#process = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.#process.stderr.on("data", (chunk) => {
      this.stderr = (this.stderr + chunk).slice(-4000);
    });
    this.#process.stdin.on("error", () => {});
    this.#process.stdout.on("data", (chunk) => this.#read(chunk));
    this.exited = new Promise((resolve) => {
      this.#process.once("error", (error) => resolve(error.message));
      this.#process.once("exit", (code, signal) => resolve(`exit ${code ?? signal}`));
    });
    this.lost = this.exited.then((how) => {
      throw new Error(`${how}: ${this.stderr.trim().split("\n").slice(-3).join(" | ")}`);
    });
    this.lost.catch(() => {});
  }

  get pid() {
    return this.#process.pid;
  }

  /** Resolves with the parsed answer and the bytes of its result. */
  request(method, params, timeoutMs = 60_000) {
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer in ${timeoutMs} ms`)), timeoutMs);
      this.#waiting.set(id, (value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return Promise.race([answer, this.lost]);
  }

  async initialize() {
    const clientInfo = { name: "bench", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const answer = await this.request("initialize", params);
    this.#process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return answer;
  }

  /** Makes `total` tool calls, `inFlight` at a time. With one in flight it returns the time of each. */
  calls(params, total, inFlight) {
    const before = '{"jsonrpc":"2.0","id":';
    const after = `,"method":"tools/call","params":${params}}\n`;
    const times = [];
    const run = new Promise((resolve, reject) => {
      let sent = 0;
      let done = 0;
      let since = 0;
      let expected = 0;
      const send = (count) => {
        let lines = "";
        for (; count > 0 && sent < total; count--, sent++) lines += before + ++this.#lastId + after;
        since = performance.now();
        if (lines !== "") this.#process.stdin.write(lines, "latin1");
      };
      let freed = 0;
      this.#onAnswer = (length) => {
        if (inFlight === 1) times.push(performance.now() - since);
        // Ids get more digits. Any other change of size is an error.
        expected ||= length;
        if (Math.abs(length - expected) > 16)
          reject(new Error(`answers of ${expected} and of ${length} bytes`));
        done++;
        freed++;
      };
      this.#onTurn = () => {
        if (done === total) resolve();
        else send(freed);
        freed = 0;
      };
      send(inFlight);
    });
    return Promise.race([run, this.lost]).then(() => {
      this.#onAnswer = undefined;
      this.#onTurn = undefined;
      return times;
    });
  }

  #read(chunk) {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(10, from);
      const end = at < 0 ? chunk.length : at;
      const missing = HEAD - this.#head.length;
      if (missing > 0) this.#head += chunk.latin1Slice(from, Math.min(end, from + missing));
      if (this.#waiting.size > 0) this.#parts.push(chunk.subarray(from, end));
      this.#length += end - from;
      from = end + 1;
      if (at >= 0) this.#line();
    }
    this.#onTurn?.();
  }

  #line() {
    const isAnswer = !this.#head.includes('"method"');
    if (isAnswer && this.#onAnswer) this.#onAnswer(this.#length);
    else if (isAnswer && this.#parts.length > 0) this.#settle(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#head = "";
    this.#length = 0;
  }

  #settle(line) {
    const text = line.toString();
    const message = JSON.parse(text);
    const from = text.indexOf('"result":') + 9;
    const resultBytes = Buffer.byteLength(text.slice(from, text.lastIndexOf("}")));
    this.#waiting.get(message.id)?.({ ...message, resultBytes });
    this.#waiting.delete(message.id);
  }

  /** CPU of the process in µs: user and system time of all threads, without children. */
  cpu() {
    if (process.platform === "linux") {
      // `schedstat` of each thread is in nanoseconds. `stat` counts in hundredths of a second, which is too
      // coarse for single calls.
      const of = (thread) => readFileSync(`/proc/${this.pid}/task/${thread}/schedstat`, "latin1");
      const threads = readdirSync(`/proc/${this.pid}/task`);
      return threads.reduce((sum, thread) => sum + Number.parseInt(of(thread), 10) / 1000, 0);
    }
    const [minutes, seconds] = this.#ps("cputime=").split(":").slice(-2).map(Number);
    return (minutes * 60 + seconds) * 1e6;
  }

  /** Resident memory in MB. */
  rss() {
    if (process.platform !== "linux") return Number(this.#ps("rss=")) / 1024;
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "latin1"))[1]) / 1024;
  }

  #ps(column) {
    return execFileSync("ps", ["-o", column, "-p", String(this.pid)], { encoding: "utf8" }).trim();
  }

  async close() {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 8_000);
    await this.exited;
    clearTimeout(timer);
  }
}
