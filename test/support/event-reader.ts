/** Reads server-sent events of the admin API. */
import { adminFetch } from "./admin-answers.ts";
import { atEnd } from "./shared.ts";
import { until } from "./until.ts";

export interface ReadEvent {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly data: any;
}

export interface EventReader {
  readonly status: number;
  /** The error body, if the answer is not an event stream. */
  readonly problem: { readonly detail?: string; readonly status?: number } | undefined;
  /** All events so far. */
  readonly events: readonly ReadEvent[];
  /** Whether the stream has ended. */
  readonly ended: boolean;
  /** Waits for the first event of one of these types and returns its data. */
  next(...types: readonly string[]): Promise<ReadEvent["data"]>;
  close(): void;
}

export async function readEvents(address: string, init: RequestInit = {}): Promise<EventReader> {
  const stopping = new AbortController();
  atEnd(() => stopping.abort());
  const response = await adminFetch(address, { ...init, signal: stopping.signal });
  const events: ReadEvent[] = [];
  let ended = false;
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const problem = isStream ? undefined : JSON.parse((await response.text()) || "{}");
  if (isStream && response.body) void read(response.body, events).finally(() => (ended = true));
  return {
    status: response.status,
    problem,
    events,
    get ended() {
      return ended;
    },
    next: async (...types) =>
      (await until(() => events.find(({ type }) => types.includes(type)), { what: types.join(" or ") })).data,
    close: () => stopping.abort(),
  };
}

async function read(body: ReadableStream<Uint8Array>, events: ReadEvent[]): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, type] = /^event: (.*)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (type !== undefined) events.push({ type, data: JSON.parse(data ?? "null") });
      }
    }
  } catch {
    // The stream was aborted.
  }
}
