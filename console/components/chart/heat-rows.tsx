/**
 * How long calls took, one row of colours each: the darker, the larger the share of its calls. A real table.
 */
import type { ComponentChildren } from "preact";
import { count, duration } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import "./chart.css";

export interface HeatRow {
  readonly key: string;
  readonly name: ComponentChildren;
  /** Calls by duration. One more than there are bounds. */
  readonly buckets: readonly number[];
  readonly p95Ms: number | undefined;
}

const texts = componentTexts.chart;

export function HeatRows({
  label,
  bounds,
  rows,
}: {
  readonly label: string;
  readonly bounds: readonly number[];
  readonly rows: readonly HeatRow[];
}) {
  const heads = [...bounds.map(duration), texts.more];
  return (
    <table class="heat" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">
            <span class="for-screen-readers">{texts.name}</span>
          </th>
          {heads.map((head) => (
            <th key={head} scope="col" class="heat-head">
              {head}
            </th>
          ))}
          <th scope="col" class="heat-end">
            p95
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, buckets, p95Ms }) => {
          const most = Math.max(...buckets, 1);
          return (
            <tr key={key}>
              <th scope="row" class="heat-name mono">
                {name}
              </th>
              {buckets.map((calls, at) => (
                <td key={heads[at]} class="heat-cell" title={texts.within(heads[at] ?? "", calls)}>
                  <span
                    style={{ opacity: calls === 0 ? 0.06 : 0.18 + 0.82 * (calls / most) }}
                    aria-hidden="true"
                  />
                  <span class="for-screen-readers">{count(calls)}</span>
                </td>
              ))}
              <td class="heat-end number">{p95Ms === undefined ? "–" : `≈ ${duration(p95Ms)}`}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
