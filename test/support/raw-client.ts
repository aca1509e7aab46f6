/** A client that sees every byte: speaks JSON-RPC lines to a process on stdio. Knows no SDK and repairs nothing. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { onTestFinished } from "vitest";

export interface Answer {
  /** The line as it came, without its newline. */
  readonly raw: Buffer;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface Incoming {
  readonly raw: Buffer;
  readonly id?: unknown;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly settle: (answer: Answer) => void;
  readonly lost: (reason: Error) => void;
}

/** What the client answers to a request of the server; undefined for no answer at all. */
type Reply = (request: Incoming) => { result: unknown } | { error: unknown } | undefined;

export class RawClient {
  readonly notifications: Incoming[] = [];
  readonly requests: Incoming[] = [];
  /** Lines on stdout that are no message, or an answer nobody asked for. Must stay empty. */
  readonly strays: string[] = [];
  readonly exited: Promise<Exit>;
  /** Decides about requests of the server; none are answered unless set. */
  reply: Reply | undefined;
  #stderr = "";
  #parts: Buffer[] = [];
  #lastId = 0;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<string, Waiting>();
  readonly #watchers = new Set<() => void>();

  /** Call inside a test: what still runs when the test is over is killed. */
  constructor(command: string, { args = [], cwd, env }: StartOptions = {}) {
    this.#process = spawn(command, args, { cwd, env: env ?? process.env, stdio: "pipe" });
    this.#process.stdin.on("error", () => {});
    this.#process.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#process.stderr.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString();
      this.#changed();
    });
    this.exited = new Promise((resolve) => {
      this.#process.once("error", (error) => this.#end(error));
      this.#process.once("close", (code, signal) => {
        this.#end(new Error(`exited with ${code ?? signal}; stderr: ${this.#stderr}`));
        resolve({ code, signal });
      });
    });
    onTestFinished(() => void this.#process.kill("SIGKILL"));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Bytes as they are; the newline is yours. */
  write(bytes: string | Buffer): void {
    this.#process.stdin.write(bytes);
  }

  notify(method: string, params?: unknown): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  /** Resolves with the answer, an error included; rejects only when the process ends first. */
  request(method: string, params?: unknown): Promise<Answer> {
    return this.requestRaw(++this.#lastId, method, params === undefined ? undefined : JSON.stringify(params));
  }

  /** `params` as the text to send; `id` as JSON would write it. */
  requestRaw(id: number | string, method: string, params?: string): Promise<Answer> {
    const key = typeof id === "number" ? String(id) : id;
    const answer = this.answer(key);
    const more = params === undefined ? "" : `,"params":${params}`;
    this.write(`{"jsonrpc":"2.0","id":${key},"method":${JSON.stringify(method)}${more}}\n`);
    return answer;
  }

  /** The answer with that id, which is to come; for requests written by hand. */
  answer(id: string): Promise<Answer> {
    const answer = new Promise<Answer>((settle, lost) => this.#waiting.set(id, { settle, lost }));
    // A test need not wait for what never comes.
    answer.catch(() => {});
    return answer;
  }

  /** The id of the last request, for cancelling it. */
  get lastId(): number {
    return this.#lastId;
  }

  async initialize(capabilities: object = {}, protocolVersion = "2025-11-25"): Promise<Answer> {
    const clientInfo = { name: "raw-client", version: "1.0.0" };
    const answer = await this.request("initialize", { protocolVersion, capabilities, clientInfo });
    this.notify("notifications/initialized");
    return answer;
  }

  /** The `result` of a tool; throws where the answer is a JSON-RPC error. */
  async tool(name: string, args: object = {}, _meta?: object): Promise<Record<string, unknown>> {
    const { result, error } = await this.request("tools/call", { name, arguments: args, _meta });
    if (!result) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return result;
  }

  /** A child's tool through the meta surface. */
  mcpCall(server: string, tool: string, args: object = {}, _meta?: object): Promise<Record<string, unknown>> {
    return this.tool("mcp_call", { server, tool, args }, _meta);
  }

  /** Resolves when `seen` holds, looked at whenever something arrives. Bounded by the test's own time limit. */
  async until(seen: (client: this) => boolean): Promise<void> {
    if (seen(this)) return;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (seen(this)) resolve();
        else if (this.#process.exitCode !== null || this.#process.signalCode !== null)
          reject(new Error(`it ended first; stderr: ${this.#stderr}`));
        else return;
        this.#watchers.delete(look);
      };
      this.#watchers.add(look);
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Closes its stdin and waits for its end; throws if anything but protocol was on its stdout. */
  async close(): Promise<Exit> {
    this.#process.stdin.end();
    const exit = await this.exited;
    if (this.#parts.length > 0) this.strays.push(Buffer.concat(this.#parts).toString());
    if (this.strays.length > 0) throw new Error(`not protocol on stdout: ${JSON.stringify(this.strays)}`);
    return exit;
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, at));
      this.#receive(Buffer.concat(this.#parts));
      this.#parts = [];
      from = at + 1;
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
    this.#changed();
  }

  #receive(raw: Buffer): void {
    const message = parse(raw);
    if (!message) this.strays.push(raw.toString());
    else if ("method" in message) this.#incoming({ raw, ...message } as unknown as Incoming);
    else {
      const id = idAsWritten(raw, message["id"]);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (waiting) waiting.settle({ raw, ...message });
      else this.strays.push(raw.toString());
    }
  }

  #incoming(message: Incoming): void {
    if (message.id === undefined) {
      this.notifications.push(message);
      return;
    }
    this.requests.push(message);
    const reply = this.reply?.(message);
    if (reply) this.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...reply })}\n`);
  }

  #end(reason: Error): void {
    for (const { lost } of this.#waiting.values()) lost(reason);
    this.#waiting.clear();
    this.#changed();
  }

  #changed(): void {
    for (const look of this.#watchers) look();
  }
}

function parse(raw: Buffer): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(raw.toString());
    const object = typeof message === "object" && message !== null && "jsonrpc" in message;
    return object && message.jsonrpc === "2.0" ? (message as unknown as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A number of 20 digits is not what JSON.parse makes of it. */
function idAsWritten(raw: Buffer, id: unknown): string {
  if (typeof id !== "number" || Number.isSafeInteger(id)) return JSON.stringify(id);
  return /"id"\s*:\s*(-?[0-9.eE+-]+)/.exec(raw.toString())?.[1] ?? String(id);
}
