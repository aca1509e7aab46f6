/** The drawer of a revision: its changes, and the rollback to it. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { dryRun, send } from "../../api/client.ts";
import type { Change } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Status } from "../../components/status.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { may } from "../../session.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { historyTexts as texts } from "../../texts/records.ts";
import { useSending } from "../../use-sending.ts";
import "./history.css";

export function RevisionDrawer({ n, newest }: { readonly n: number; readonly newest: number }) {
  const revision = useResource("/revisions/:n", { n }, {});
  const planned = useSignal<readonly Change[] | undefined>(undefined);
  const sending = useSending();
  const options = { params: { n } };
  const close = () => go({ page: "history", query: address.value.query });
  const previewRollback = () =>
    sending.run(async () => {
      planned.value = await dryRun("POST /revisions/:n/rollback", undefined, options);
    });
  const rollBack = () =>
    sending.run(async () => {
      const { revision: made } = await send("POST /revisions/:n/rollback", undefined, options);
      planned.value = undefined;
      toast({ text: texts.done(made) });
      go({ page: "history", id: String(made) });
    });
  return (
    <Drawer
      title={texts.revision(n)}
      onClose={close}
      actions={
        n !== newest &&
        may("config.apply") && (
          <Button busy={sending.busy} onClick={() => void previewRollback()}>
            {texts.rollback}
          </Button>
        )
      }
    >
      <Ready of={revision}>
        {({ at: when, who, summary, diff }) => (
          <div class="stack">
            <KeyValues
              items={[
                { key: texts.columns.summary, value: <ForeignText text={summary} /> },
                { key: texts.columns.who, value: <ForeignText text={who.name ?? ""} /> },
                { key: texts.columns.at, value: <Ago at={when} /> },
              ]}
            />
            {n === newest && <p class="muted">{texts.current}</p>}
            <h3>{texts.changes}</h3>
            {diff.length === 0 ? <p class="muted">{texts.none}</p> : <ChangeList changes={diff} />}
            {!planned.value && <Refused problem={sending.problem} />}
          </div>
        )}
      </Ready>
      {planned.value && (
        <FormDialog
          title={texts.ask.title(n)}
          danger
          submit={texts.ask.confirm}
          sending={sending}
          onSubmit={() => void rollBack()}
          onClose={() => (planned.value = undefined)}
        >
          <p>{texts.ask.text}</p>
          <p>{planned.value.length === 0 ? texts.ask.same : texts.ask.would}</p>
          <ChangeList changes={planned.value} />
        </FormDialog>
      )}
    </Drawer>
  );
}

/** Lists the changes of a revision, or those that a rollback would make. */
const STATES = { create: "ok", update: "busy", delete: "bad" } as const;

function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <ul class="change-list">
      {changes.map(({ op, kind, name, fields }) => (
        <li key={`${kind} ${name}`}>
          <Status state={STATES[op]} word={texts.ops[op]} /> {kind}{" "}
          <code>
            <ForeignText text={name} />
          </code>
          {fields && <span class="muted"> {fields.join(", ")}</span>}
        </li>
      ))}
    </ul>
  );
}
