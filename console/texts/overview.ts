/** Texts of the overview and of the first run. */
import { count, plural } from "../format.ts";

export const overviewTexts = {
  title: "Overview",
  attention: {
    title: "Needs attention",
    open: "Open",
    review: "Review",
    secret: {
      word: "plain secret",
      reason: (field: string) => `${field} looks like a secret, but is stored and shown in plain text`,
    },
    changed: {
      word: "changed",
      reason: (n: number) =>
        `${plural(n, "tool")} changed since ${n === 1 ? "it was" : "they were"} approved`,
    },
    suspect: {
      word: "suspicious",
      reason: (n: number) =>
        `${n === 1 ? "the texts of 1 tool have" : `the texts of ${count(n)} tools have`} signs of an attack`,
    },
    public: { word: "public", reason: "anyone who can reach the gateway can use it" },
    store: {
      name: "Store",
      word: "unreachable",
      reason: (why: string) => `${why}. Clients keep working, but nothing can be changed.`,
    },
    replicas: {
      name: "Replicas",
      word: "not shared",
      reason:
        "another gateway uses the same store, but they do not share sessions and limits: start each with --replica-address",
    },
    silent: {
      name: (replicas: readonly string[]) => `Replica ${replicas.join(", ")}`,
      word: "silent",
      reason: "it does not answer, so what it knows is missing on these pages",
    },
    at: (replicas: readonly string[]) => `at replica ${replicas.join(", ")}`,
    key: "expires",
    audit: {
      name: "Audit log",
      lost: "incomplete",
      lostReason: (n: number) =>
        `${plural(n, "record")} could not be written and ${n === 1 ? "is" : "are"} lost`,
      fault: "not written",
    },
    approvals: {
      word: "waiting",
      reason: (n: number) => `${plural(n, "call")} ${n === 1 ? "waits" : "wait"} for approval`,
    },
    requests: {
      word: "waiting",
      reason: (n: number) => `${plural(n, "server")} ${n === 1 ? "was" : "were"} requested`,
    },
    decide: "Decide",
    noEndpoint: { word: "none yet", reason: "no client can use the servers" },
    makeEndpoint: "Create an endpoint",
    more: (n: number) => `and ${n} more`,
  },
  figures: {
    calls: (range: string) => `calls, ${range}`,
    errors: (range: string) => `failed, ${range}`,
    refused: (range: string) => `refused, ${range}`,
    p95: (range: string) => `p95, ${range}`,
    p95Title: "95 % of the calls took no longer; within 20 %",
    tokens: (range: string) => `tokens of tool lists, ${range}`,
    tokensSaved: (part: string) => `${part} saved`,
    tokensMore: (part: string) => `${part} more than the lists alone`,
    tokensTitle:
      "What the lists of all tools would have cost the models, and what was shown and searched instead",
    none: "–",
  },
  counted: (when: string) =>
    `Figures are counted since ${when}; calls before that are only in the audit log.`,
  endpoints: {
    title: "Endpoints",
    none: "No endpoint yet. Clients connect to an endpoint.",
  },
  servers: { title: "Servers", none: "No servers yet." },
  start: {
    title: "Connect your first client",
    summary: "Five steps, about three minutes.",
    skip: "Skip this",
    resume: "Connect a client",
    unused: "No client has used these servers in the last 30 days.",
    servers: {
      title: "Add servers",
      text: "Paste the config of one of your clients, or choose from the gallery.",
      done: (names: string) => `Added: ${names}`,
      more: "Add more",
    },
    endpoint: {
      title: "Offer them at an endpoint",
      text: "Clients connect to an endpoint. It offers the tools of one or more namespaces.",
      make: "Create the endpoint “default”",
    },
    key: {
      title: "Create a key",
      text: "The client needs this key to connect. It is shown only once.",
      before: "You have a key for this endpoint. Its text was shown when it was created, and only then.",
      have: "Go on with that key",
      gone: "You go on with a key that you have.",
      another: "Create another key",
      make: "Create a key",
      name: "First client",
      done: "Created. The config below contains it.",
      open: "Not needed: the endpoint is public.",
    },
    paste: {
      title: "Paste this into your client",
    },
    call: {
      title: "Make a first call",
      finish: "Go to the overview",
    },
  },
} as const;
