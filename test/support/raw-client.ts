/**
 * A client without an SDK that sends and receives JSON-RPC lines on stdio. Shows every byte and corrects
 * nothing.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { atEnd } from "./shared.ts";

export interface Answer {
  /** The received line without its newline. */
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

interface PendingAnswer {
  readonly settle: (answer: Answer) => void;
  readonly lost: (reason: Error) => void;
}

/** Answers a request of the server. Undefined: no answer is sent. */
type Reply = (request: Incoming) => { result: unknown } | { error: unknown } | undefined;

export class RawClient {
  readonly notifications: Incoming[] = [];
  readonly requests: Incoming[] = [];
  /** Lines on stdout that are not JSON-RPC, and answers to unknown ids. Must stay empty. */
  readonly strays: string[] = [];
  readonly exited: Promise<Exit>;
  /** Answers requests of the server. Without it none is answered. */
  reply: Reply | undefined;
  #stderr = "";
  #parts: Buffer[] = [];
  #lastId = 0;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<string, PendingAnswer>();
  readonly #watchers = new Set<() => void>();

  /** Call inside a test. The process is killed at the end of the test. */
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
    atEnd(() => void this.#process.kill("SIGKILL"));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Writes the bytes unchanged. The caller adds the newline. */
  write(bytes: string | Buffer): void {
    this.#process.stdin.write(bytes);
  }

  notify(method: string, params?: unknown): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  /** Resolves with the result or error. Rejects only if the process ends first. */
  request(method: string, params?: unknown): Promise<Answer> {
    return this.requestRaw(++this.#lastId, method, params === undefined ? undefined : JSON.stringify(params));
  }

  /** `params` is sent unchanged; `id` is a number or JSON text. */
  requestRaw(id: number | string, method: string, params?: string): Promise<Answer> {
    const key = typeof id === "number" ? String(id) : id;
    const answer = this.answer(key);
    const more = params === undefined ? "" : `,"params":${params}`;
    this.write(`{"jsonrpc":"2.0","id":${key},"method":${JSON.stringify(method)}${more}}\n`);
    return answer;
  }

  /** Waits for the answer with this id, for requests sent with `write`. */
  answer(id: string): Promise<Answer> {
    const answer = new Promise<Answer>((settle, lost) => this.#waiting.set(id, { settle, lost }));
    // A test may ignore an answer that never arrives.
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

  /** The `result` of a tool call. Throws for a JSON-RPC error. */
  async tool(name: string, args: object = {}, _meta?: object): Promise<Record<string, unknown>> {
    const { result, error } = await this.request("tools/call", { name, arguments: args, _meta });
    if (!result) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Calls a child's tool through the meta surface. */
  mcpCall(server: string, tool: string, args: object = {}, _meta?: object): Promise<Record<string, unknown>> {
    return this.tool("mcp_call", { server, tool, args }, _meta);
  }

  /**
   * Resolves when `seen` is true; checked whenever output arrives. Limited only by the timeout of the test.
   */
  async until(seen: (client: this) => boolean): Promise<void> {
    if (seen(this)) return;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (seen(this)) resolve();
        else if (this.#process.exitCode !== null || this.#process.signalCode !== null)
          reject(new Error(`it ended first; stderr: ${this.#stderr}`));
        else return;
        this.#watchers.delete(check);
      };
      this.#watchers.add(check);
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Closes stdin and waits for the exit. Throws if stdout had anything but JSON-RPC. */
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
    for (const check of this.#watchers) check();
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

/** The id exactly as written, because JSON.parse would round a number of 20 digits. */
function idAsWritten(raw: Buffer, id: unknown): string {
  if (typeof id !== "number" || Number.isSafeInteger(id)) return JSON.stringify(id);
  return /"id"\s*:\s*(-?[0-9.eE+-]+)/.exec(raw.toString())?.[1] ?? String(id);
}
