/** Shows how a call, a change or a login ended, and why. */
import { type State, Status } from "../components/status.tsx";
import { outcomeTexts as texts } from "../texts/outcome.ts";
import { type Failed, whyText } from "./why-text.ts";

type OutcomeKind = "ok" | "error" | "refused";
const STATES = { ok: "ok", error: "bad", refused: "warn" } as const satisfies Record<OutcomeKind, State>;

export function Outcome({ of }: { readonly of: Failed & { readonly outcome: OutcomeKind } }) {
  const { outcome } = of;
  const reason = outcome === "ok" ? undefined : whyText(of);
  return <Status state={STATES[outcome]} word={texts.words[outcome]} reason={reason} />;
}
