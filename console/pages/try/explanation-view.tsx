/** Shows what each layer would do with a call, and by which rule. */
import type { Explanation } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { tryTexts as texts } from "../../texts/try.ts";

type Step = Explanation["steps"][number];

const STATES = {
  pass: "ok",
  allow: "ok",
  change: "ok",
  answer: "busy",
  ask: "busy",
  approve: "busy",
  limit: "warn",
  deny: "bad",
  unknown: "off",
} as const;

const COLUMNS: readonly Column<Step>[] = [
  {
    id: "use",
    head: "Layer",
    width: "130px",
    mono: true,
    cell: ({ use }) => <ForeignText text={use} />,
  },
  {
    id: "at",
    head: "Where",
    width: "180px",
    hideBelow: "small",
    cell: ({ at }) => <ForeignText text={at} />,
  },
  {
    id: "effect",
    head: "What it does",
    cell: ({ effect, reason }) => (
      <Status state={STATES[effect]} word={texts.effects[effect]} reason={reason} />
    ),
  },
];

export function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const { outcome, steps } = explanation;
  return (
    <section class="stack-small" aria-live="polite">
      <p>
        <Status
          state={outcome === "passes" ? "ok" : outcome === "refused" ? "bad" : "busy"}
          word={texts.outcomes[outcome]}
        />
      </p>
      <Table label={texts.explain} rows={steps} columns={COLUMNS} rowKey={({ use, at }) => `${at} ${use}`} />
    </section>
  );
}
