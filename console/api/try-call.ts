/** A call that is tried out at an endpoint: the stream of what happens on its way. */
import { ApiProblem, urlOf } from "./client.ts";
import type { TryEvent } from "./types.ts";

export interface TryCall {
  readonly endpoint: string;
  readonly server: string;
  readonly tool: string;
  readonly as?: string | undefined;
  /** JSON as it was typed, so that numbers keep their digits. */
  readonly args: string;
}

/** An event, with the text that it came as. */
export interface Told {
  readonly event: TryEvent;
  readonly raw: string;
}

/** Ends with a result or an error; leaving it cancels the call. */
export async function* tryCall(call: TryCall, signal: AbortSignal): AsyncGenerator<Told> {
  const { endpoint, server, tool, as, args } = call;
  const named = JSON.stringify({ server, tool, ...(as && { as }) });
  const response = await fetch(urlOf("/endpoints/:uuid/try", { uuid: endpoint }), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `${named.slice(0, -1)},"args":${args}}`,
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

/** Not every browser lets a stream be walked. */
async function* chunks(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A stream that was aborted says so once more.
    reader.cancel().catch(() => undefined);
  }
}

function dataOf(block: string): readonly string[] {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
}
