/** Lists changes of the config, each with its values before and after. */
import type { Change } from "../api/types.ts";
import { Diff } from "../components/diff.tsx";
import { ForeignText } from "../components/foreign-text.tsx";
import { historyTexts as texts } from "../texts/records.ts";
import { useObjectNames, withNames } from "./use-object-names.ts";
import "./change-list.css";

const MARKS = { create: "+", update: "~", delete: "−" } as const;

export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  const names = useObjectNames();
  return (
    <ul class="change-list">
      {changes.map((change) => (
        <OneChange key={`${change.kind} ${change.name}`} change={withNames(change, names) as Change} />
      ))}
    </ul>
  );
}

function OneChange({ change: { op, kind, name, fields = [], before, after } }: { readonly change: Change }) {
  // Secrets look the same before and after: only the name of their field tells of the change.
  const secret = fields.filter((field) => JSON.stringify(before?.[field]) === JSON.stringify(after?.[field]));
  return (
    <li>
      <span class="line">
        <span class={`change-mark change-${op}`} aria-hidden="true">
          {MARKS[op]}
        </span>
        <span>
          {texts.ops[op]} {kind}{" "}
          {kind !== "settings" && (
            <code>
              <ForeignText text={name} />
            </code>
          )}
        </span>
        {before === undefined && fields.length > 0 && <span class="muted">{fields.join(", ")}</span>}
      </span>
      {op === "update" && before !== undefined && <Diff before={before} after={after} />}
      {op === "update" && before !== undefined && secret.length > 0 && (
        <p class="muted">{texts.secret(secret.join(", "))}</p>
      )}
      {op !== "update" && (before ?? after) !== undefined && (
        <details>
          <summary>{op === "create" ? texts.whole : texts.wholeBefore}</summary>
          <Diff before={before} after={after} />
        </details>
      )}
    </li>
  );
}
