/**
 * The end of a form with a draft: conflicts with changes of others, the gateway's refusal, and the save
 * button.
 */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { Diff } from "../components/diff.tsx";
import { ForeignText } from "../components/foreign-text.tsx";
import { useResource } from "../live/resource.ts";
import { may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import type { DraftOf } from "../use-draft.ts";
import type { Sending } from "../use-sending.ts";
import { Refused } from "./refused.tsx";
import "./draft-bar.css";

interface DraftBarProps {
  readonly draft: Pick<
    DraftOf<object>,
    "changed" | "edits" | "conflicts" | "keepMine" | "takeTheirs" | "clear"
  > & {
    /** The last change of the object, if it has revisions. */
    readonly revision?: number;
  };
  readonly sending: Pick<Sending, "busy" | "problem">;
  readonly save: string;
  /** Without it, the button submits the form around it. */
  readonly onSave?: () => unknown;
  /** JSON Pointers of the fields that show their own error. */
  readonly shownByFields?: readonly string[];
  /** The input is invalid and cannot be sent. */
  readonly invalid?: boolean;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

export function DraftBar(props: DraftBarProps) {
  const { draft, sending, save, onSave, shownByFields = [], invalid = false, children } = props;
  const { changed, conflicts } = draft;
  const { meanwhile, mine: keep, theirs: take, discard } = shellTexts.draft;
  return (
    <div class={`stack${changed ? " draft-bar" : ""}`}>
      {conflicts.length > 0 && (
        <div class="note stack-small" role="alert">
          <p>
            <ChangedBy revision={draft.revision} /> {meanwhile}
          </p>
          {conflicts.map(({ field, theirs, mine }) => (
            <div key={field} class="stack-small">
              <code>{field}</code>
              <Diff before={theirs} after={mine} />
            </div>
          ))}
          <div class="line">
            <Button onClick={draft.keepMine}>{keep}</Button>
            <Button onClick={draft.takeTheirs}>{take}</Button>
          </div>
        </div>
      )}
      {changed && conflicts.length === 0 && <Edits of={draft.edits} />}
      <Refused problem={sending.problem} shownByFields={shownByFields} />
      <div class="line">
        <Button
          kind="primary"
          type={onSave ? "button" : "submit"}
          busy={sending.busy}
          disabled={!changed || invalid || conflicts.length > 0}
          onClick={onSave}
        >
          {save}
        </Button>
        {changed && (
          <Button kind="quiet" onClick={draft.clear}>
            {discard}
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}

/** Who made a change, for those who may see the history. */
function ChangedBy({ revision }: { readonly revision: number | undefined }) {
  const params = revision !== undefined && may("history.read") ? { n: revision } : undefined;
  const who = useResource("/revisions/:n", params, {}).value.value?.who.name;
  return <ForeignText text={who ?? shellTexts.draft.somebody} />;
}

/** What saving would change. */
function Edits({ of }: { readonly of: DraftOf<object>["edits"] }) {
  const [before, after] = (["before", "after"] as const).map((side) =>
    Object.fromEntries(of.map((edit) => [edit.field, edit[side]])),
  );
  return (
    <details>
      <summary>{shellTexts.draft.edits(of.length)}</summary>
      <Diff before={before} after={after} />
    </details>
  );
}
