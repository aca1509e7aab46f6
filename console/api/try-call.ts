/** Calls a tool of an endpoint for the page "Try it" and reads the stream of events. */
import { ApiProblem, urlOf } from "./client.ts";
import type { TryEvent } from "./types.ts";

export interface TryCall {
  readonly endpoint: string;
  readonly server: string;
  readonly tool: string;
  readonly as?: string | undefined;
  /** JSON text as typed, so that long numbers keep all digits. */
  readonly args: string;
}

/** An event with its unparsed JSON. */
export interface RawTryEvent {
  readonly event: TryEvent;
  readonly raw: string;
}

/** Yields events until the result or the error. Leaving the loop early cancels the call. */
export async function* tryCall(call: TryCall, signal: AbortSignal): AsyncGenerator<RawTryEvent> {
  const { endpoint, server, tool, as, args } = call;
  const target = JSON.stringify({ server, tool, ...(as && { as }) });
  const response = await fetch(urlOf("/endpoints/:uuid/try", { uuid: endpoint }), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `${target.slice(0, -1)},"args":${args}}`,
    signal,
  });
  if (!response.ok || !response.body) {
    const fields = await response.json().catch(() => ({ title: response.statusText }));
    throw new ApiProblem(response.status, fields as Record<string, unknown>);
  }
  let rest = "";
  for await (const chunk of chunks(response.body.pipeThrough(new TextDecoderStream()))) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const raw of blocks.flatMap(dataOf)) yield { event: JSON.parse(raw) as TryEvent, raw };
  }
}

/** Iterates over a stream. Not every browser supports `for await` on streams. */
async function* chunks(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // An aborted stream rejects here as well.
    reader.cancel().catch(() => undefined);
  }
}

function dataOf(block: string): readonly string[] {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
}
