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

type Range = keyof typeof texts.ranges;
const DAY_MS = 86_400_000;

/** Values of the two time fields. */
const RANGES: Readonly<
  Record<Range, (now: Date) => { readonly from: string; readonly to: string | undefined }>
> = {
  hour: (now) => ({ from: local(now.getTime() - DAY_MS / 24), to: undefined }),
  today: (now) => ({ from: local(midnight(now)), to: undefined }),
  yesterday: (now) => ({ from: local(midnight(new Date(midnight(now) - 1))), to: local(midnight(now)) }),
  week: (now) => ({ from: local(now.getTime() - 7 * DAY_MS), to: undefined }),
};

function midnight(day: Date): number {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
}

/** In the form of a field for date and time, in the reader's zone. */
function local(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

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
      <div class="line audit-ranges">
        {(Object.keys(texts.ranges) as Range[]).map((range) => (
          <Button key={range} size="small" onClick={() => setQuery(RANGES[range](new Date()))}>
            {texts.ranges[range]}
          </Button>
        ))}
        <span class="muted">{texts.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}</span>
      </div>
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
