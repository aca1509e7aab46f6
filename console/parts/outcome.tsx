/** Shows how a call, a change or a login ended, and why. */
import { type State, Status } from "../components/status.tsx";
import { outcomeTexts as texts } from "../texts/outcome.ts";

type OutcomeKind = "ok" | "error" | "refused";
const STATES = { ok: "ok", error: "bad", refused: "warn" } as const satisfies Record<OutcomeKind, State>;

interface OutcomeProps {
  readonly outcome: OutcomeKind;
  readonly code?: string | undefined;
  /** The layer that refused it. */
  readonly by?: string | undefined;
}

export function Outcome({ outcome, code, by }: OutcomeProps) {
  const reason = [code, by && texts.by(by)].filter(Boolean).join(" ") || undefined;
  return <Status state={STATES[outcome]} word={texts.words[outcome]} reason={reason} />;
}
