/**
 * Sends the change of a server and shows its steps as events arrive: stored, reconnected, namespaces rebuilt,
 * clients notified.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiProblem, send } from "../../api/client.ts";
import type { Server, ServerPatch, ServerUpdated } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { StatusShape } from "../../components/status.tsx";
import { toast } from "../../components/toasts.tsx";
import { listen, type UpdateEvent } from "../../live/events.ts";
import { CONFIG, useList } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { serverTexts } from "../../texts/servers.ts";
import { revertRevision } from "../../undo.ts";
import { type FlowStep, flowSteps } from "./flow.ts";

const texts = serverTexts.flow;
const SHAPE_STATES = { done: "ok", busy: "busy", failed: "bad" } as const satisfies Record<
  FlowStep["state"],
  string
>;

interface UpdateFlowProps {
  readonly server: Server;
  readonly patch: ServerPatch;
  readonly takeOver: boolean;
  readonly onRefused: (problem: ApiProblem) => void;
  /** Called with the updated server. */
  readonly onDone: (server: Server) => void;
}

export function UpdateFlow({ server, patch, takeOver, onRefused, onDone }: UpdateFlowProps) {
  const { uuid, name, revision } = server;
  const events = useSignal<readonly UpdateEvent[]>([]);
  const answer = useSignal<ServerUpdated | undefined>(undefined);
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  useEffect(() => {
    const end = listen((event) => {
      if (event.type === "update" && event.server.uuid === uuid && event.revision > revision)
        events.value = [...events.value, event];
    });
    const params = { uuid, ...(takeOver && { takeOver }) };
    send("PATCH /mcp-servers/:uuid", patch, { params, revision }).then(
      (done) => {
        answer.value = done;
      },
      (error: unknown) => {
        if (!(error instanceof ApiProblem)) throw error;
        onRefused(error);
      },
    );
    return end;
  }, []);
  const nameOf = (namespace: string) => namespaces.find((one) => one.uuid === namespace)?.name ?? namespace;
  const steps = flowSteps({ events: events.value, answer: answer.value, nameOf });
  const done = answer.value;
  const failed = done?.connection.state === "failed";
  const rollBack = async (to: number) => {
    try {
      await revertRevision(to);
      toast({ text: texts.rolledBack(name) });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      toast({ kind: "failed", text: error.message });
    }
  };
  return (
    <section class="stack" aria-label={texts.title(name)} aria-busy={!done}>
      <ol class="flow" aria-live="polite">
        {steps.map(({ id, state, text }) => (
          <li key={id} class="flow-step">
            <StatusShape state={SHAPE_STATES[state]} />
            <ForeignText text={text} />
          </li>
        ))}
      </ol>
      {done && (
        <>
          <p role="status" class={failed ? "note-warn" : "note-ok"}>
            {failed ? texts.doneFailed : texts.done}
          </p>
          <div class="line">
            <Button kind={failed ? "primary" : "plain"} onClick={() => onDone(done.server)}>
              {failed ? texts.edit : texts.back}
            </Button>
            {failed && may("config.apply") && (
              <Button onClick={() => void rollBack(done.server.revision).then(() => onDone(server))}>
                {texts.rollBack}
              </Button>
            )}
          </div>
        </>
      )}
    </section>
  );
}
