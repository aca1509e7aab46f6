/**
 * Key figures: calls, failures, duration, tokens. Each has a unit and a time range, and leads to what is
 * behind it.
 */
import type { ComponentChildren } from "preact";
import { hrefOf } from "../../address.ts";
import type { Usage } from "../../api/types.ts";
import { count, duration, percent, roughly } from "../../format.ts";
import { callsHref } from "../../parts/calls-href.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { usageTexts } from "../../texts/usage.ts";

const texts = overviewTexts.figures;

export function Figures({ usage }: { readonly usage: Usage | undefined }) {
  const totals = usage?.totals;
  const { calls = 0, errors = 0, refused = 0, p95Ms, tokensFull = 0, tokensShown = 0 } = totals ?? {};
  const words = usage ? usageTexts.words[usage.range] : "";
  const from = usage?.from;
  const share = (part: number): string => (calls === 0 ? texts.none : percent(part, calls));
  return (
    <dl class="panel figures" aria-busy={!usage}>
      <Figure name={texts.calls(words)} href={callsHref({ from })}>
        {totals ? count(calls) : texts.none}
      </Figure>
      <Figure name={texts.errors(words)} href={callsHref({ from, outcome: "error" })}>
        {share(errors)}
      </Figure>
      <Figure name={texts.refused(words)} href={callsHref({ from, outcome: "refused" })}>
        {share(refused)}
      </Figure>
      <Figure name={texts.p95(words)} href={hrefOf({ page: "servers" })} title={texts.p95Title}>
        {p95Ms === undefined ? texts.none : `≈ ${duration(p95Ms)}`}
      </Figure>
      <Figure
        name={texts.tokens(words)}
        href={hrefOf({ page: "endpoints" })}
        title={texts.tokensTitle}
        note={saved(tokensFull, tokensShown)}
      >
        {tokensFull === 0 ? texts.none : `${roughly(tokensFull)} → ${roughly(tokensShown)}`}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly href: string;
  readonly title?: string;
  /** Beside the figure. */
  readonly note?: string | undefined;
  readonly children: ComponentChildren;
}

/** Of short lists a search costs more than it saves, which is said too. */
function saved(full: number, shown: number): string | undefined {
  if (full === 0 || full === shown) return undefined;
  if (shown < full) return texts.tokensSaved(percent(full - shown, full));
  return texts.tokensMore(percent(shown - full, full));
}

function Figure({ name, href, title, note, children }: FigureProps) {
  return (
    <div class="figure" title={title}>
      <dt class="small muted">{name}</dt>
      <dd>
        <a class="figure-value number" href={href}>
          {children}
        </a>
        {note && <span class="figure-note small muted">{note}</span>}
      </dd>
    </div>
  );
}
