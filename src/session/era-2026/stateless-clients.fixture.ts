/** Test fixture for stateless clients: sends requests and lets the test answer the calls of the surface. */
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL_USER, PERSONAL } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { Message } from "../../rpc/message.ts";
import type { ClientRequest, Surface } from "../../surface/surface.ts";
import { StatelessClients } from "./stateless-clients.ts";
import type { RequestSource } from "./stateless-host.ts";

export const KEY = "io.modelcontextprotocol/";
const ALL = { elicitation: {}, sampling: {}, roots: {} };
export const QUESTION = { message: "Sure?" };

type Received = Record<string, unknown> & {
  result?: Record<string, unknown> & { requestState?: string; inputRequests?: Record<string, unknown> };
  error?: { code: number; message: string; data?: unknown };
};

interface SurfaceCall {
  readonly request: ClientRequest;
  answer(result: unknown): void;
  fail(error: unknown): void;
}

/** Stateless clients on a surface whose calls are answered by the test. */
export class Fixture {
  readonly clock = new ManualClock();
  readonly calls: SurfaceCall[] = [];
  readonly ended: string[] = [];
  readonly era2026: StatelessClients;
  #lastId = 0;

  constructor(surface: Partial<Surface> = {}) {
    this.era2026 = new StatelessClients({
      endpoint: PERSONAL,
      clock: this.clock,
      onEnded: (session) => void this.ended.push(session),
      surface: {
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        instructions: () => "Use it well.",
        handle: (request) =>
          new Promise<Raw>((resolve, reject) => {
            this.calls.push({ request, answer: (result) => resolve(toRaw(result)), fail: reject });
            request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
          }),
        ...surface,
      },
    });
  }

  /** Sends a request and records all messages that come back. */
  send(
    method: string,
    params: object = {},
    {
      capabilities = ALL,
      meta = {},
      from = {},
    }: { capabilities?: object; meta?: object; from?: Partial<RequestSource> } = {},
  ) {
    const envelope = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: capabilities };
    return this.sendRaw(method, { ...params, _meta: { ...envelope, ...meta } }, from);
  }

  sendRaw(method: string, params: unknown, from: Partial<RequestSource> = {}) {
    const heard: Received[] = [];
    const statuses: number[] = [];
    const id = ++this.#lastId;
    const message = { kind: "request" as const, id: toRaw(id), method, params: toRaw(params) };
    const served = this.era2026.serve(message, {
      principal: LOCAL_USER,
      send: (answer, status) => {
        heard.push(read(answer));
        statuses.push(status);
      },
      ...from,
    });
    return { id, heard, statuses, served, last: () => heard.at(-1) as Received };
  }

  call(params: object = {}, options: Parameters<Fixture["send"]>[2] = {}) {
    return this.send("tools/call", { name: "t", arguments: { a: 1, b: [2] }, ...params }, options);
  }

  get current(): SurfaceCall {
    return this.calls.at(-1) as SurfaceCall;
  }
}

function read(message: Message): Received {
  const { kind, ...rest } = message;
  const values = Object.entries(rest).map(([key, value]) => [
    key,
    Buffer.isBuffer(value) ? fromRaw(value as Raw) : value,
  ]);
  return { kind, ...Object.fromEntries(values) };
}

/** Questions are collected for one turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
export const ask = (
  { request }: SurfaceCall,
  method = "elicitation/create",
  params: unknown = QUESTION,
  name?: string,
) => {
  const answer = request.uplink.request(method, toRaw(params), new CallSignal(), name ? { name } : {});
  answer.catch(() => {});
  return answer;
};
