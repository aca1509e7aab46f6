/** Waits for a client and its first call. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ForeignText } from "../components/foreign-text.tsx";
import { StatusShape } from "../components/status.tsx";
import { duration } from "../format.ts";
import { type CallEvent, listen, listenToCalls } from "../live/events.ts";
import { useResource } from "../live/resource.ts";
import { may } from "../session.ts";
import { connectTexts as texts } from "../texts/connect.ts";

type Made = Pick<CallEvent, "server" | "tool" | "client" | "principal" | "durationMs">;

interface FirstCallProps {
  readonly endpoint: { readonly uuid: string };
  readonly onCall?: () => void;
  /** Shown after the call. */
  readonly children?: ComponentChildren;
}

export function FirstCall({ endpoint, onCall, children }: FirstCallProps) {
  const call = useSignal<Made | undefined>(undefined);
  const client = useSignal<string | undefined>(undefined);
  const since = useSignal(Date.now());
  // Members do not get events, so their own calls are read.
  const mine = useResource("/me/calls", may("stats.read") ? undefined : { limit: 5 }, { everyMs: 3_000 });
  const own = mine.value.value?.items.find(
    (one) => one.endpoint.uuid === endpoint.uuid && one.outcome === "ok" && Date.parse(one.at) > since.value,
  );
  useEffect(() => {
    const endCalls = listenToCalls((event) => {
      if (event.endpoint.uuid !== endpoint.uuid || event.outcome !== "ok" || call.peek()) return;
      call.value = event;
      onCall?.();
    });
    const endSessions = listen((event) => {
      if (event.type === "session" && event.state === "opened" && event.endpoint.uuid === endpoint.uuid)
        client.value = event.client?.name ?? event.principal.name;
    });
    return () => {
      endCalls();
      endSessions();
    };
  }, [endpoint.uuid]);
  const made = call.value ?? own;
  const who = made && (made.client?.name ?? made.principal.name);
  return (
    <div class="stack-small" role="status">
      <p class="line">
        <StatusShape state={made ? "ok" : "busy"} />
        <ForeignText
          text={
            made
              ? texts.called(`${made.server.name}:${made.tool}`, who ?? "", duration(made.durationMs))
              : client.value === undefined
                ? texts.waiting
                : texts.connected(client.value)
          }
        />
      </p>
      {made && children}
    </div>
  );
}
