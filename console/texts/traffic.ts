/** Texts of the page Traffic. */
import { count, plural } from "../format.ts";

export const trafficTexts = {
  title: "Traffic",
  answer: (shown: number, errors: number, refused: number) =>
    shown === 0
      ? "No call yet that fits."
      : `The last ${plural(shown, "call")}: ${plural(errors, "error")}, ${count(refused)} refused.`,
  list: "Calls",
  search: "Search calls",
  pause: "Pause",
  resume: "Go on",
  export: "Export",
  exportTitle: "The calls that fit, one JSON object a line",
  empty: {
    title: "No calls yet",
    text: "Each call of a client appears here as it happens. The last 1,000 are kept in memory; the audit log keeps all of them.",
  },
  filters: { outcome: "Outcome", endpoint: "Endpoint", server: "Server", any: "any" },
  outcomes: { ok: "ok", error: "error", refused: "refused" },
  columns: {
    at: "When",
    tool: "Tool",
    who: "Who",
    client: "Client",
    endpoint: "Endpoint",
    outcome: "Outcome",
    duration: "Took",
    size: "Result",
  },
  by: (layer: string) => `by ${layer}`,
  one: {
    title: (id: number) => `Call ${count(id)}`,
    back: "All calls",
    gone: "This call is not among the last 1,000 any more",
    goneText: "The audit log keeps every call.",
    audit: "Open the audit log",
    way: "Its way through the layers",
    noLayers: "No layer stood on its way.",
    rest: "server and way back",
    steps: { passed: "passed", refused: "refused", answered: "answered" },
    arguments: "Arguments, as they left the pipeline",
    noArguments: "Arguments are shown to administrators.",
    replay: "Call again",
    replayTitle: "Opens the tool on the page Try it, with the same arguments",
    key: "Key",
    session: "Session",
    surface: "Surface",
    sent: "Sent",
    got: "Result",
    attempts: "Attempts",
    cached: "From the cache",
    yes: "yes",
    trace: "Trace",
    actor: "Tried out by",
    approval: "Approved by",
  },
} as const;
