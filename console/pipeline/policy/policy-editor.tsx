/** The rules of a policy as sentences: read, move, edit, add. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { policyTexts as texts } from "../../texts/policy.ts";
import { shellTexts } from "../../texts/shell.ts";
import type { LayerEntry, Place } from "../layer-entry.ts";
import { moved, type Rule, sentenceOf } from "./rule.ts";
import { RuleFields } from "./rule-fields.tsx";
import { type RuleMatch, useMatches } from "./use-matches.ts";
import "./policy.css";

interface PolicyEditorProps {
  readonly entry: LayerEntry;
  readonly place: Place;
  readonly editable: boolean;
  readonly onInput: (entry: LayerEntry) => void;
}

export function PolicyEditor({ entry, place, editable, onInput }: PolicyEditorProps) {
  const rules = (entry["rules"] ?? []) as readonly Rule[];
  const open = useSignal<number | undefined>(undefined);
  const dragged = useSignal<number | undefined>(undefined);
  const matches = useMatches(place, rules);
  const set = (next: readonly Rule[]) => onInput({ ...entry, rules: next });
  const move = (from: number, to: number) => {
    if (to < 0 || to >= rules.length || from === to) return;
    open.value = open.value === from ? to : undefined;
    set(moved(rules, from, to));
  };
  return (
    <div class="stack-small">
      <ol class="policy-rules" aria-label={texts.rules}>
        {rules.map((rule, at) => (
          <RuleRow
            key={at}
            at={at}
            rule={rule}
            match={matches[at]}
            editable={editable}
            open={editable && open.value === at}
            last={at === rules.length - 1}
            onOpen={() => (open.value = open.value === at ? undefined : at)}
            onMove={(by) => move(at, at + by)}
            onDrag={() => (dragged.value = at)}
            onDrop={() => {
              if (dragged.value !== undefined) move(dragged.value, at);
              dragged.value = undefined;
            }}
            onInput={(one) => set(rules.map((other, index) => (index === at ? one : other)))}
            onRemove={() => {
              open.value = undefined;
              set(rules.filter((_, index) => index !== at));
            }}
          />
        ))}
      </ol>
      {rules.length === 0 && <p class="muted">{texts.none}</p>}
      {editable ? (
        <div class="line policy-end">
          <Button
            size="small"
            onClick={() => {
              open.value = rules.length;
              set([...rules, { effect: "deny" }]);
            }}
          >
            {texts.add}
          </Button>
          <span class="push line">
            <SelectField
              label={texts.otherwise}
              value={entry["default"] === "allow" ? "allow" : "deny"}
              options={Object.entries(texts.defaults).map(([value, label]) => ({ value, label }))}
              onInput={(value) => onInput({ ...entry, default: value })}
            />
          </span>
        </div>
      ) : (
        <p class="muted small">
          {texts.otherwise} {texts.defaults[entry["default"] === "allow" ? "allow" : "deny"]}.
        </p>
      )}
      {editable && rules.length > 1 && <p class="muted small">{texts.text}</p>}
    </div>
  );
}

interface RuleRowProps {
  readonly at: number;
  readonly rule: Rule;
  readonly match: RuleMatch | undefined;
  readonly editable: boolean;
  readonly open: boolean;
  readonly last: boolean;
  readonly onOpen: () => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onDrag: () => void;
  readonly onDrop: () => void;
  readonly onInput: (rule: Rule) => void;
  readonly onRemove: () => void;
}

function RuleRow(props: RuleRowProps) {
  const { at, rule, match, editable, open, last } = props;
  const { effect, rest } = sentenceOf(rule);
  const name = texts.rule(at + 1);
  const { up, down, remove, take } = shellTexts.order;
  const toggle = open ? texts.done : texts.edit;
  return (
    <li
      class={`policy-rule policy-${rule.effect}`}
      aria-label={name}
      draggable={editable && !open}
      onDragStart={props.onDrag}
      onDragOver={(event) => event.preventDefault()}
      onDrop={props.onDrop}
    >
      <div class="policy-line">
        <span class="policy-number faint">{at + 1}</span>
        <p class="policy-sentence">
          <strong>{effect}</strong> <bdi>{rest}</bdi>
        </p>
        {editable && (
          <span class="line policy-actions">
            <Button size="small" disabled={at === 0} label={up(name)} onClick={() => props.onMove(-1)}>
              ↑
            </Button>
            <Button size="small" disabled={last} label={down(name)} onClick={() => props.onMove(1)}>
              ↓
            </Button>
            <Button size="small" label={`${toggle} ${name}`} onClick={props.onOpen}>
              {toggle}
            </Button>
            <Button size="small" label={remove(name)} onClick={props.onRemove}>
              {take}
            </Button>
          </span>
        )}
      </div>
      {match && <Matches match={match} />}
      {open && <RuleFields rule={rule} onInput={props.onInput} />}
    </li>
  );
}

function Matches({ match: { tools, people, keys } }: { readonly match: RuleMatch }) {
  const empty = tools.count === 0 || people.count + keys.count === 0;
  return (
    <details class="policy-matches small">
      <summary class={empty ? "policy-empty" : "muted"}>
        {texts.matches(tools.count, people.count, keys.count)}
      </summary>
      {empty && <p>{texts.matchesNothing}</p>}
      <p class="mono small">
        <bdi>{tools.names.join(", ")}</bdi>
      </p>
      <p class="small">
        <bdi>{[...people.names, ...keys.names].join(", ")}</bdi>
      </p>
    </details>
  );
}
