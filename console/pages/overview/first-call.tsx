/** Waits for a client and its first call. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Endpoint } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { StatusShape } from "../../components/status.tsx";
import { duration } from "../../format.ts";
import { type CallEvent, listen, listenToCalls } from "../../live/events.ts";
import { go } from "../../navigate.ts";
import { overviewTexts } from "../../texts/overview.ts";

const texts = overviewTexts.start.call;

export function FirstCall({
  endpoint,
  onCall,
}: {
  readonly endpoint: Endpoint;
  readonly onCall: () => void;
}) {
  const call = useSignal<CallEvent | undefined>(undefined);
  const client = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const endCalls = listenToCalls((event) => {
      if (event.endpoint.uuid !== endpoint.uuid || event.outcome !== "ok" || call.peek()) return;
      call.value = event;
      onCall();
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
  const made = call.value;
  return (
    <div class="stack-small" role="status">
      {made ? (
        <>
          <p class="line">
            <StatusShape state="ok" />
            <ForeignText
              text={texts.done(
                `${made.server.name}:${made.tool}`,
                made.client?.name ?? made.principal.name,
                duration(made.durationMs),
              )}
            />
          </p>
          <div class="line">
            <Button kind="primary" onClick={() => go("/")}>
              {texts.finish}
            </Button>
          </div>
        </>
      ) : (
        <p class="line">
          <StatusShape state="busy" />
          <ForeignText text={client.value === undefined ? texts.waiting : texts.connected(client.value)} />
        </p>
      )}
    </div>
  );
}
