/** Key figures: calls, failures, duration, saved tokens. Each number has a unit and a time range. */
import type { ComponentChildren } from "preact";
import type { Stats } from "../../api/types.ts";
import { Sparkline } from "../../components/sparkline.tsx";
import { count, duration, percent, roughly } from "../../format.ts";
import { overviewTexts } from "../../texts/overview.ts";

const texts = overviewTexts.figures;
/** The average covers the last complete minutes, because the current one is incomplete. */
const WHOLE_MINUTES = 5;

export function Figures({ stats }: { readonly stats: Stats | undefined }) {
  const totals = stats?.totals;
  const series = stats?.series ?? [];
  return (
    <dl class="panel figures" aria-busy={!stats}>
      <Figure
        name={texts.calls}
        beside={
          <Sparkline
            label={texts.callsLabel}
            values={series.map(({ calls }) => calls)}
            format={count}
            width={160}
            height={32}
          />
        }
      >
        {totals ? perMinute(series) : texts.none}
      </Figure>
      <Figure name={texts.errors}>{totals ? percent(totals.errors, totals.calls) : texts.none}</Figure>
      <Figure name={texts.p95}>{totals?.p95Ms === undefined ? texts.none : duration(totals.p95Ms)}</Figure>
      <Figure name={texts.saved}>{totals ? roughly(Math.max(0, totals.tokensSaved)) : texts.none}</Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly beside?: ComponentChildren;
}

function Figure({ name, children, beside }: FigureProps) {
  return (
    <div class="figure">
      <dt class="small muted">{name}</dt>
      <dd>
        <span class="figure-value number">{children}</span>
        {beside}
      </dd>
    </div>
  );
}

function perMinute(series: Stats["series"]): string {
  const whole = series.slice(-WHOLE_MINUTES - 1, -1);
  const mean = whole.reduce((sum, { calls }) => sum + calls, 0) / Math.max(1, whole.length);
  return mean > 0 && mean < 9.95 ? mean.toFixed(1).replace(/\.0$/, "") : count(mean);
}
