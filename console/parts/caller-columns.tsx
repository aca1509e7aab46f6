/** Columns about the use of people and keys in the last seven days. */
import { Ago } from "../ago.tsx";
import { Sparkline } from "../components/sparkline.tsx";
import type { Column } from "../components/table.tsx";
import { count, percent } from "../format.ts";
import { usageTexts } from "../texts/usage.ts";
import type { CallerUse } from "./use-callers.ts";

const texts = usageTexts.callers;

export function callerColumns<Row extends { readonly use: CallerUse | undefined }>(): readonly Column<Row>[] {
  return [
    {
      id: "calls",
      head: texts.calls,
      width: "100px",
      align: "end",
      hideBelow: "small",
      value: ({ use }) => use?.calls ?? 0,
      cell: ({ use }) => count(use?.calls ?? 0),
    },
    {
      id: "bad",
      head: texts.bad,
      width: "80px",
      align: "end",
      hideBelow: "medium",
      value: ({ use }) => (use?.errors ?? 0) + (use?.refused ?? 0),
      cell: ({ use }) =>
        use && use.calls > 0 ? percent(use.errors + use.refused, use.calls) : <span class="faint">–</span>,
    },
    {
      id: "days",
      head: texts.days,
      width: "110px",
      hideBelow: "large",
      value: ({ use }) => use?.calls ?? 0,
      cell: ({ use }) =>
        use && <Sparkline label={texts.daysLabel} values={use.days} format={count} width={80} height={20} />,
    },
  ];
}

export function lastUse(use: CallerUse | undefined) {
  return use ? <Ago at={use.lastAt} /> : <span class="faint">{texts.notUsed}</span>;
}
