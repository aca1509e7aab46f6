/** Texts about who calls what, over time. */
import { count, percent, plural } from "../format.ts";

const RANGE_WORDS = {
  "1h": "last hour",
  "24h": "last 24 hours",
  "7d": "last 7 days",
  "30d": "last 30 days",
} as const;
const PER_WORDS = { minute: "minute", hour: "hour", day: "day" } as const;

export const usageTexts = {
  range: "Time",
  ranges: { "1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d" },
  words: RANGE_WORDS,
  flow: {
    title: "Who calls what",
    hint: "width = calls",
    label: "Who calls what: clients, endpoints, namespaces, servers",
    columns: { client: "Clients", endpoint: "Endpoints", namespace: "Namespaces", server: "Servers" },
    one: { client: "Client", endpoint: "Endpoint", namespace: "Namespace", server: "Server" },
    none: { client: "(no name)", endpoint: "(none)", namespace: "(none)", server: "(none)" },
    own: "(search)",
    unknown: "(tool not known)",
    rest: (n: number, column: "client" | "endpoint" | "namespace" | "server") =>
      `${count(n)} more ${column}s`,
    count: (calls: number, bad: number) =>
      bad === 0 ? count(calls) : `${count(calls)} · ${percent(bad, calls)} not ok`,
    table: "As a table",
    heads: { calls: "Calls", failed: "Failed", refused: "Refused" },
    empty: "No calls in this time.",
  },
  bars: {
    title: (per: keyof typeof PER_WORDS) => `Calls per ${PER_WORDS[per]}`,
    label: (per: keyof typeof PER_WORDS, range: keyof typeof RANGE_WORDS) =>
      `Calls per ${PER_WORDS[per]}, ${RANGE_WORDS[range]}`,
  },
  took: {
    title: "Where the time goes",
    hint: "share of calls by duration, slowest first",
    label: "Calls by duration, for each server",
    byTool: "Calls by duration, for each tool",
    times: "Duration",
    timesLabel: (range: keyof typeof RANGE_WORDS) => `Median and p95 of durations, ${RANGE_WORDS[range]}`,
    legend: "dashed: half of the calls; line: 95 % of them; within 20 %",
    more: (n: number) => `and ${plural(n, "more", "more")}`,
  },
  callers: {
    calls: "Calls, 7 d",
    bad: "Not ok",
    days: "Per day, 7 d",
    daysLabel: "Calls per day, last 7 days",
    last: "Last call",
    notUsed: "–",
    csv: "Download usage",
    csvTitle: "Calls, failures and last use of all people and keys in the last 30 days, as CSV",
    endpoints: "Endpoints they may use",
    keys: "Keys",
    none: "none",
  },
  people: {
    title: "By person",
    all: "All people and keys",
    says: (calls: number, failed: number, refused: number) =>
      `${plural(calls, "call")}, ${count(failed)} failed, ${count(refused)} refused`,
  },
} as const;
