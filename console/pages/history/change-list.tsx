/** Lists the changes of a revision, or those that a rollback would make. */
import type { Change } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { historyTexts as texts } from "../../texts/records.ts";

const STATES = { create: "ok", update: "busy", delete: "bad" } as const;

export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
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
