/** Texts of the overview and of the first run. */
import { plural } from "../format.ts";

export const overviewTexts = {
  title: "Overview",
  attention: {
    title: "What needs attention",
    open: "Open",
    review: "Review",
    secret: {
      word: "plain secret",
      reason: (field: string) => `${field} looks like a secret and is stored and shown as it is`,
    },
    changed: {
      word: "changed",
      reason: (n: number) =>
        `${plural(n, "tool")} changed since ${n === 1 ? "it was" : "they were"} approved`,
    },
    public: { word: "open to everybody", reason: "whoever can reach the gateway may use it" },
    store: {
      name: "Store",
      word: "unreachable",
      reason: (why: string) => `${why}. Clients notice nothing; changes wait.`,
    },
    key: "ends",
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
    noEndpoint: { word: "none yet", reason: "no client can reach the servers" },
    makeEndpoint: "Create an endpoint",
    more: (n: number) => `and ${n} more`,
  },
  figures: {
    calls: "calls per minute",
    callsLabel: "Calls per minute, last hour",
    errors: "failed, last hour",
    p95: "p95, last hour",
    saved: "tokens saved, last hour",
    none: "–",
  },
  endpoints: {
    title: "Endpoints",
    none: "No endpoint yet. An endpoint is the address that clients use.",
  },
  servers: { title: "Servers", all: "All servers", none: "No servers yet." },
  start: {
    title: "Connect a first client",
    answer: "Five steps, about three minutes.",
    skip: "Skip this",
    resume: "Connect a client",
    servers: {
      title: "Add servers",
      text: "Paste what a client of yours has already, or choose from the gallery.",
      done: (names: string) => `Added: ${names}`,
      more: "Add more",
    },
    endpoint: {
      title: "Offer them at an endpoint",
      text: "An endpoint is the address that clients use. It shows the tools of one or more namespaces.",
      make: "Create the endpoint “default”",
      done: (url: string) => url,
    },
    key: {
      title: "Create a key",
      text: "The client sends this key with each request. It is shown once.",
      make: "Create a key",
      name: "First client",
      done: "Created. The config below contains it.",
      open: "Not needed: the endpoint is open to all.",
    },
    paste: {
      title: "Paste this into your client",
      client: "Client",
      file: (file: string) => `Goes into ${file}. Restart the client then.`,
      copy: "Copy config",
      withoutKey: "Put a key of yours in place of KEY.",
    },
    call: {
      title: "Make a first call",
      waiting: "Waiting for a call. Ask your client something that needs a tool.",
      connected: (client: string) => `${client} is connected. Ask it something that needs a tool.`,
      done: (what: string, who: string, took: string) => `${who} called ${what} in ${took}. It works.`,
      finish: "Go to the overview",
    },
  },
} as const;
