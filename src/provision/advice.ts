/** Tells a model what to do about matches that were not installed. */
import type { ShownCandidate } from "./show.ts";

export function adviceOn(matches: readonly ShownCandidate[]): string {
  const usable = matches.filter(({ trust, plan }) => trust !== "denied" && !plan.flaw);
  const [first] = usable;
  if (!first)
    return "None of these can be used: your list of publishers denies them, or their entries are invalid.";
  const { candidate, missing } = first.plan;
  if (first.configured !== undefined) {
    return `${candidate.name} is already configured: mcp_discover {server: "${first.configured}"} shows its tools.`;
  }
  const steps = [
    ...(missing.length > 0 ? [`set ${missing.join(", ")} where MetaMCP is started, and restart it`] : []),
    ...(first.trust === "unknown"
      ? [`ask the user to review what it runs and to trust it: metamcp trust add ${candidate.id}`]
      : []),
    "call again with autoProvision: true",
  ];
  const others = usable.length > 1 ? " To choose another one, pass its id as the intent." : "";
  return `To add ${candidate.name}: ${steps.join("; then ")}.${others}`;
}
