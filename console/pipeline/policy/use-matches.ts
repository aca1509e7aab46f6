/** How many tools and people each rule names, asked again a moment after the rules change. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { send } from "../../api/client.ts";
import type { PolicyMatches } from "../../api/types.ts";
import { may } from "../../session.ts";
import type { Place } from "../layer-entry.ts";
import type { Rule } from "./rule.ts";

export type RuleMatch = PolicyMatches["rules"][number];

const PAUSE_MS = 250;

export function useMatches(at: Place, rules: readonly Rule[]): readonly RuleMatch[] {
  const matches = useSignal<readonly RuleMatch[]>([]);
  const asked = JSON.stringify([at, rules]);
  useEffect(() => {
    if (!may("settings") || rules.length === 0) return;
    const timer = setTimeout(() => {
      send("POST /policies/matches", { at, rules: rules as never }).then(
        (answer) => (matches.value = answer.rules),
        // An unfinished rule is refused. What it matches is not known then.
        () => (matches.value = []),
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  return matches.value;
}
