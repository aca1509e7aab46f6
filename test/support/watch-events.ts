/** Reads the live events of a gateway, like the console does. */
import { adminFetch } from "./admin-answers.ts";
import { ADMIN_TOKEN, type TeamGateway } from "./team-gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type AnyEvent = any;

export async function watchEvents({ url }: Pick<TeamGateway, "url">): Promise<AnyEvent[]> {
  const response = await adminFetch(`${url}/api/v1/events`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const events: AnyEvent[] = [];
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  void (async () => {
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const parts = (rest + next.value).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const [, data] = /^data: (.*)$/m.exec(part) ?? [];
        if (data !== undefined) events.push(JSON.parse(data));
      }
    }
  })().catch(() => {});
  return events;
}
