/** Shown if somebody else changed the server while it was edited: lists the changed fields and asks which version to keep. */
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { type Draft, draftOf, patchBetween } from "./draft.ts";

const texts = serverTexts.conflict;

interface ConflictProps {
  readonly before: Draft;
  readonly draft: Draft;
  readonly current: Server;
  readonly onMine: (current: Server) => void;
  readonly onTheirs: (current: Server) => void;
}

export function Conflict({ before, draft, current, onMine, onTheirs }: ConflictProps) {
  const theirs = Object.keys(patchBetween(before, draftOf(current)) ?? {});
  const mine = Object.keys(patchBetween(before, draft) ?? {});
  const both = theirs.filter((name) => mine.includes(name));
  return (
    <div class="stack" role="alert">
      <h3>{texts.title}</h3>
      <p>{both.length > 0 ? texts.both(both.join(", ")) : texts.apart(theirs.join(", "))}</p>
      <div class="line">
        <Button kind="primary" onClick={() => onMine(current)}>
          {texts.mine}
        </Button>
        <Button onClick={() => onTheirs(current)}>{texts.theirs}</Button>
      </div>
    </div>
  );
}
