/** The end of a form over a draft: what others changed meanwhile, why it was refused, and the button that saves. */
import { Button } from "../components/button.tsx";
import { shellTexts } from "../texts/shell.ts";
import type { DraftOf } from "../use-draft.ts";
import type { Sending } from "../use-sending.ts";
import { Refused } from "./refused.tsx";

interface DraftBarProps {
  readonly draft: Pick<DraftOf<object>, "changed" | "conflicts" | "keepMine" | "takeTheirs" | "clear">;
  readonly sending: Sending;
  readonly save: string;
  readonly onSave: () => void;
}

export function DraftBar({ draft, sending, save, onSave }: DraftBarProps) {
  const { changed, conflicts } = draft;
  const { meanwhile, mine, theirs, discard } = shellTexts.draft;
  return (
    <div class="stack">
      {conflicts.length > 0 && (
        <div class="stack-small" role="alert">
          <p>{meanwhile(conflicts.join(", "))}</p>
          <div class="line">
            <Button onClick={draft.keepMine}>{mine}</Button>
            <Button onClick={draft.takeTheirs}>{theirs}</Button>
          </div>
        </div>
      )}
      <Refused problem={sending.problem} />
      <div class="line">
        <Button
          kind="primary"
          busy={sending.busy}
          disabled={!changed || conflicts.length > 0}
          onClick={onSave}
        >
          {save}
        </Button>
        {changed && (
          <Button kind="quiet" onClick={draft.clear}>
            {discard}
          </Button>
        )}
      </div>
    </div>
  );
}
