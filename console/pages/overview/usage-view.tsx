/** Who calls what and when, on the overview: picture, bars over time, durations and people. */
import { hrefOf } from "../../address.ts";
import type { Usage } from "../../api/types.ts";
import { HeatRows } from "../../components/chart/heat-rows.tsx";
import { OutcomeLegend, TimeBars } from "../../components/chart/time-bars.tsx";
import { count } from "../../format.ts";
import { go } from "../../navigate.ts";
import { callsHref } from "../../parts/calls-href.ts";
import { may } from "../../session.ts";
import { usageTexts as texts } from "../../texts/usage.ts";
import { FlowPicture } from "./flow-picture.tsx";
import { FlowTable } from "./flow-table.tsx";

const MOST_ROWS = 8;

export function UsageView({ usage }: { readonly usage: Usage }) {
  const { range, per, series } = usage;
  const openSteps = (first: number, last: number): void => {
    const to = series[last + 1]?.at;
    go(callsHref({ from: series[first]?.at, ...(to !== undefined && { to }) }));
  };
  return (
    <>
      <section class="panel usage-card">
        <div class="usage-head">
          <h2>{texts.flow.title}</h2>
          <span class="small muted">
            {texts.words[range]} · {texts.flow.hint}
          </span>
          <OutcomeLegend />
        </div>
        {usage.flows.length === 0 ? (
          <p class="muted">{texts.flow.empty}</p>
        ) : (
          <>
            <FlowPicture usage={usage} />
            <FlowTable usage={usage} />
          </>
        )}
      </section>
      <div class="usage-grid">
        <section class="panel usage-card">
          <div class="usage-head">
            <h2>{texts.bars.title(per)}</h2>
            <OutcomeLegend />
          </div>
          <TimeBars
            label={texts.bars.label(per, range)}
            per={per}
            steps={series}
            onPick={openSteps}
            height={190}
          />
        </section>
        <section class="panel usage-card">
          <div class="usage-head">
            <h2>{texts.took.title}</h2>
            <span class="small muted">{texts.took.hint}</span>
          </div>
          {usage.took.length === 0 ? <p class="muted">{texts.flow.empty}</p> : <Took usage={usage} />}
        </section>
      </div>
      <People usage={usage} />
    </>
  );
}

function Took({ usage: { took, bounds } }: { readonly usage: Usage }) {
  const rows = took.slice(0, MOST_ROWS).map(({ server, buckets, p95Ms }) => ({
    key: server?.uuid ?? server?.name ?? "",
    name: server?.uuid ? (
      <a href={hrefOf({ page: "servers", id: server.uuid })}>
        <bdi>{server.name}</bdi>
      </a>
    ) : (
      <bdi>{server?.name === "metamcp" ? texts.flow.own : texts.flow.unknown}</bdi>
    ),
    buckets,
    p95Ms,
  }));
  return (
    <>
      <HeatRows label={texts.took.label} bounds={bounds} rows={rows} />
      {took.length > MOST_ROWS && (
        <a class="small" href={hrefOf({ page: "servers" })}>
          {texts.took.more(took.length - MOST_ROWS)}
        </a>
      )}
    </>
  );
}

/** Each person with all of their keys. */
function People({ usage: { callers, from, range } }: { readonly usage: Usage }) {
  const people = new Map<string, { name: string; calls: number; errors: number; refused: number }>();
  for (const { principal, calls, errors, refused } of callers) {
    const id = principal?.id ?? "";
    const known = people.get(id) ?? { name: principal?.name ?? "–", calls: 0, errors: 0, refused: 0 };
    people.set(id, {
      name: known.name,
      calls: known.calls + calls,
      errors: known.errors + errors,
      refused: known.refused + refused,
    });
  }
  const rows = [...people.values()].sort((a, b) => b.calls - a.calls);
  const most = rows[0]?.calls ?? 1;
  if (rows.length === 0) return null;
  return (
    <section class="panel usage-card">
      <div class="usage-head">
        <h2>{texts.people.title}</h2>
        <span class="small muted">{texts.words[range]}</span>
        {may("people") && (
          <a class="small push" href={hrefOf({ page: "people" })}>
            {texts.people.all}
          </a>
        )}
      </div>
      <ul class="people-bars">
        {rows.slice(0, MOST_ROWS).map(({ name, calls, errors, refused }) => {
          const share = (part: number) => ({ width: `${(100 * part) / most}%` });
          return (
            <li key={name}>
              <a class="cut" href={callsHref({ principalName: name, from })}>
                <bdi>{name}</bdi>
              </a>
              <span class="people-bar" title={texts.people.says(calls, errors, refused)}>
                <span class="bar-failed" style={share(errors)} />
                <span class="bar-refused" style={share(refused)} />
                <span class="bar-ok" style={share(calls - errors - refused)} />
              </span>
              <span class="number">
                {count(calls)}
                <span class="for-screen-readers">{texts.people.says(calls, errors, refused)}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
