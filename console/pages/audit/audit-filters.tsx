/** The filters of the audit log. Their values are in the address. */
import type { Query } from "../../address.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { setQuery } from "../../navigate.ts";
import { outcomeTexts } from "../../texts/outcome.ts";
import { auditTexts } from "../../texts/records.ts";
import "./audit.css";

const texts = auditTexts.filters;
const TEXTS = ["principalName", "endpoint", "server", "tool"] as const;
/** Filters that only links from other pages set. They are shown only if set. */
const LINKED = ["key", "session", "client"] as const;
const TIMES = ["from", "to"] as const;
const NAMES = ["kind", "outcome", ...TEXTS, ...LINKED, ...TIMES] as const;

export function filtersIn(query: Query): Record<string, string> {
  const given = NAMES.flatMap((name): [string, string][] => {
    const value = query[name];
    if (!value) return [];
    const time = (TIMES as readonly string[]).includes(name) ? new Date(value) : undefined;
    if (time) return Number.isNaN(time.getTime()) ? [] : [[name, time.toISOString()]];
    return [[name, value]];
  });
  return Object.fromEntries(given);
}

export function AuditFilters({ query }: { readonly query: Query }) {
  const set = (name: string) => (value: string) => setQuery({ [name]: value || undefined });
  const linked = LINKED.filter((name) => query[name]);
  return (
    <search class="audit-filters">
      <SelectField
        label={texts.kind}
        value={query["kind"] ?? ""}
        none={texts.any}
        options={Object.entries(auditTexts.kinds).map(([value, label]) => ({ value, label }))}
        onInput={set("kind")}
      />
      <SelectField
        label={texts.outcome}
        value={query["outcome"] ?? ""}
        none={texts.any}
        options={Object.entries(outcomeTexts.words).map(([value, label]) => ({ value, label }))}
        onInput={set("outcome")}
      />
      {[...TEXTS, ...linked].map((name) => (
        <TextField key={name} label={texts[name]} value={query[name] ?? ""} onInput={set(name)} />
      ))}
      {TIMES.map((name) => (
        <TextField
          key={name}
          label={texts[name]}
          type="datetime-local"
          value={query[name] ?? ""}
          onInput={set(name)}
        />
      ))}
      {NAMES.some((name) => query[name]) && (
        <Button
          kind="quiet"
          onClick={() => setQuery(Object.fromEntries(NAMES.map((name) => [name, undefined])))}
        >
          {texts.clear}
        </Button>
      )}
    </search>
  );
}
