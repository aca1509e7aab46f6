/** Computes the shown steps of a server update from its events. Pure. */
import type { ServerUpdated } from "../../api/types.ts";
import type { UpdateEvent } from "../../live/events.ts";
import { serverTexts } from "../../texts/servers.ts";

const texts = serverTexts.flow;

export interface FlowStep {
  readonly id: UpdateEvent["step"];
  readonly state: "done" | "busy" | "failed";
  readonly text: string;
}

/** In the order shown; "failed" takes the position of "connected". */
const ORDER = ["stored", "closed", "started", "connected", "compiled", "told"] as const;
const BUSY: Readonly<Record<(typeof ORDER)[number], string>> = {
  stored: texts.storing,
  closed: texts.closing,
  started: texts.starting,
  connected: texts.shaking,
  compiled: texts.compiling,
  told: texts.telling,
};

export interface FlowInput {
  readonly events: readonly UpdateEvent[];
  readonly answer: ServerUpdated | undefined;
  readonly nameOf: (namespace: string) => string;
}

/** Returns the finished steps, and before the answer also the next one as busy. */
export function flowSteps({ events, answer, nameOf }: FlowInput): readonly FlowStep[] {
  const known = new Map(events.map((event) => [event.step, event]));
  const done = ORDER.flatMap((step): readonly FlowStep[] => {
    const event = known.get(step) ?? (step === "connected" ? known.get("failed") : undefined);
    if (!event) return [];
    return [
      { id: event.step, state: event.step === "failed" ? "failed" : "done", text: textOf(event, nameOf) },
    ];
  });
  if (answer) return done;
  const last = ORDER.findLastIndex((step) =>
    done.some(({ id }) => id === step || (id === "failed" && step === "connected")),
  );
  const next = ORDER[last + 1];
  return next ? [...done, { id: next, state: "busy", text: BUSY[next] }] : done;
}

function textOf(event: UpdateEvent, nameOf: (namespace: string) => string): string {
  switch (event.step) {
    case "stored":
      return texts.stored(event.revision);
    case "closed":
      return texts.closed(event.pid);
    case "started":
      return texts.started(event.pid);
    case "connected":
      return texts.connected(event.toolCount ?? 0);
    case "failed":
      return texts.failed(event.reason ?? "");
    case "compiled":
      return texts.compiled((event.namespaces ?? []).map(nameOf));
    case "told":
      return texts.told(event.clients ?? 0);
  }
}
