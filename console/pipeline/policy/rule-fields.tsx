/** The fields of one rule: the effect first, then tools and people with completion, then conditions. */
import { useSignal } from "@preact/signals";
import { CodeField } from "../../components/code-field.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { TokenField } from "../../components/token-field.tsx";
import { policyTexts } from "../../texts/policy.ts";
import { type Effect, type Rule, type Tier, withField } from "./rule.ts";
import { type Names, useNames } from "./use-names.ts";

const texts = policyTexts.fields;
const TIERS = Object.keys(policyTexts.tiers) as readonly Tier[];

interface RuleFieldsProps {
  readonly rule: Rule;
  readonly onInput: (rule: Rule) => void;
}

export function RuleFields({ rule, onInput }: RuleFieldsProps) {
  const names = useNames();
  const set = <K extends keyof Rule>(field: K, value: Rule[K] | undefined) =>
    onInput(withField(rule, field, value));
  return (
    <div class="stack policy-fields">
      <SelectField
        label={policyTexts.effect}
        value={rule.effect}
        options={Object.entries(policyTexts.effects).map(([value, label]) => ({ value, label }))}
        onInput={(value) => onInput(withEffect(rule, value as Effect))}
      />
      <TokenField
        label={texts.tools}
        hint={texts.toolsHint}
        value={rule.tools ?? []}
        suggestions={names.tools}
        onInput={(tools) => set("tools", tools)}
      />
      <div class="policy-columns policy-who">
        {(["users", "groups", "roles", "keys"] as const).map((field) => (
          <TokenField
            key={field}
            label={texts[field]}
            value={rule.who?.[field] ?? []}
            suggestions={names[field]}
            onInput={(value) => set("who", withName(rule.who, field, value))}
          />
        ))}
      </div>
      {rule.effect === "approve" && <Approval rule={rule} names={names} set={set} />}
      <fieldset class="line">
        <legend class="field-label">{texts.tiers}</legend>
        {TIERS.map((tier) => (
          <SwitchField
            key={tier}
            label={policyTexts.tiers[tier]}
            value={rule.tiers?.includes(tier) ?? false}
            onInput={(on) =>
              set(
                "tiers",
                TIERS.filter((one) => (one === tier ? on : rule.tiers?.includes(one))),
              )
            }
          />
        ))}
      </fieldset>
      <details open={rule.args !== undefined || rule.when !== undefined || rule.labels !== undefined}>
        <summary>{texts.more}</summary>
        <div class="stack">
          <TokenField
            label={texts.labels}
            value={rule.labels ?? []}
            suggestions={names.labels}
            onInput={(labels) => set("labels", labels)}
          />
          <Arguments rule={rule} onInput={(args) => set("args", args)} />
          <TextField
            label={texts.when}
            hint={texts.whenHint}
            optional
            mono
            value={rule.when ?? ""}
            onInput={(when) => set("when", when)}
          />
        </div>
      </details>
    </div>
  );
}

interface ApprovalProps {
  readonly rule: Rule;
  readonly names: Names;
  readonly set: <K extends "by" | "withinMs">(field: K, value: Rule[K] | undefined) => void;
}

function Approval({ rule: { by, withinMs }, names, set }: ApprovalProps) {
  return (
    <div class="policy-columns">
      <TokenField
        label={texts.byGroups}
        hint={texts.byHint}
        value={by?.groups ?? []}
        suggestions={names.groups}
        onInput={(groups) => set("by", withName(by, "groups", groups))}
      />
      <TokenField
        label={texts.byRoles}
        value={by?.roles ?? []}
        suggestions={names.roles}
        onInput={(roles) => set("by", withName(by, "roles", roles))}
      />
      <TextField
        label={texts.within}
        hint={texts.withinHint}
        optional
        value={String(withinMs ?? "")}
        onInput={(text) => set("withinMs", /^\d+$/.test(text) ? Number(text) : text)}
      />
    </div>
  );
}

/** Keeps what is typed until it is JSON. */
function Arguments({
  rule,
  onInput,
}: {
  readonly rule: Rule;
  readonly onInput: (args: Rule["args"]) => void;
}) {
  const text = useSignal(rule.args ? JSON.stringify(rule.args) : "");
  const wrong = useSignal(false);
  return (
    <CodeField
      label={texts.args}
      hint={texts.argsHint}
      optional
      value={text.value}
      error={wrong.value ? policyTexts.notJson : undefined}
      onInput={(typed) => {
        text.value = typed;
        const read = typed.trim() === "" ? {} : objectIn(typed);
        wrong.value = read === undefined;
        if (read) onInput(read);
      }}
    />
  );
}

export function objectIn(typed: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(typed) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Approvers and a time belong only to an approval. */
function withEffect(rule: Rule, effect: Effect): Rule {
  const { by: _by, withinMs: _within, ...rest } = rule;
  return effect === "approve" ? { ...rule, effect } : { ...rest, effect };
}

function withName<W extends object>(who: W | undefined, field: keyof W, value: readonly string[]): W {
  const { [field]: _, ...rest } = (who ?? {}) as W;
  return (value.length > 0 ? { ...rest, [field]: value } : rest) as W;
}
