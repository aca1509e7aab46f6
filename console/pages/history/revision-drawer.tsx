/** The drawer of a revision: its changes with values, undoing it alone, and returning to its state. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { dryRun, send } from "../../api/client.ts";
import type { Change } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { ChangeList } from "../../parts/change-list.tsx";
import { may } from "../../session.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { historyTexts as texts } from "../../texts/records.ts";
import { useSending } from "../../use-sending.ts";

/** Undo takes back one revision alone; rollback returns to the state right after it. */
const WAYS = { undo: "POST /revisions/:n/undo", rollback: "POST /revisions/:n/rollback" } as const;
type Way = keyof typeof WAYS;

interface Plan {
  readonly way: Way;
  readonly changes: readonly Change[];
}

export function RevisionDrawer({ n, newest }: { readonly n: number; readonly newest: number }) {
  const revision = useResource("/revisions/:n", { n }, {});
  const plan = useSignal<Plan | undefined>(undefined);
  const sending = useSending();
  const options = { params: { n } };
  const close = () => go({ page: "history", query: address.value.query });
  const preview = (way: Way) =>
    sending.run(async () => {
      plan.value = { way, changes: await dryRun(WAYS[way], undefined, options) };
    });
  const run = ({ way }: Plan) =>
    sending.run(async () => {
      const { revision: made } = await send(WAYS[way], undefined, options);
      plan.value = undefined;
      toast({ text: texts[way].done(made) });
      go({ page: "history", id: String(made) });
    });
  const buttons = may("config.apply") && (
    <>
      <Button busy={sending.busy} onClick={() => void preview("undo")}>
        {texts.undo.button}
      </Button>
      {n !== newest && (
        <Button busy={sending.busy} onClick={() => void preview("rollback")}>
          {texts.rollback.button}
        </Button>
      )}
    </>
  );
  return (
    <Drawer title={texts.revision(n)} onClose={close} actions={buttons}>
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
            {!plan.value && <Refused problem={sending.problem} />}
            <h3>{texts.changes}</h3>
            {diff.length === 0 ? <p class="muted">{texts.none}</p> : <ChangeList changes={diff} />}
          </div>
        )}
      </Ready>
      {plan.value && (
        <PlanDialog
          n={n}
          plan={plan.value}
          sending={sending}
          onSubmit={(planned) => void run(planned)}
          onClose={() => (plan.value = undefined)}
        />
      )}
    </Drawer>
  );
}

interface PlanDialogProps {
  readonly n: number;
  readonly plan: Plan;
  readonly sending: ReturnType<typeof useSending>;
  readonly onSubmit: (plan: Plan) => void;
  readonly onClose: () => void;
}

/** Shows what would change before it does. */
function PlanDialog({ n, plan, sending, onSubmit, onClose }: PlanDialogProps) {
  const { title, text, confirm } = texts[plan.way];
  return (
    <FormDialog
      title={title(n)}
      danger={plan.way === "rollback"}
      submit={confirm}
      sending={sending}
      onSubmit={() => onSubmit(plan)}
      onClose={onClose}
    >
      <p>{text}</p>
      <p>{plan.changes.length === 0 ? texts.same : texts.would}</p>
      <ChangeList changes={plan.changes} />
    </FormDialog>
  );
}
