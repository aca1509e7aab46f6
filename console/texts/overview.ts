/** Texts of the overview and of the first run. */
import { plural } from "../format.ts";

export const overviewTexts = {
  title: "Overview",
  attention: {
    title: "What needs attention",
    open: "Open",
    look: "Look",
    secret: (field: string) => `${field} looks like a secret, and is stored and shown as it is`,
    changed: (n: number) => `${plural(n, "tool")} changed since ${n === 1 ? "it was" : "they were"} approved`,
    public: "open to everyone who can reach the gateway",
    store: (reason: string) =>
      `The store cannot be reached: ${reason}. Clients notice nothing; changes wait.`,
    key: "this key ends",
    audit: (n: number) =>
      `${plural(n, "audit record")} could not be written and ${n === 1 ? "is" : "are"} lost`,
    auditFault: (reason: string) => `The audit log cannot be written: ${reason}`,
    approvals: (n: number) => `${plural(n, "call")} ${n === 1 ? "waits" : "wait"} for approval`,
    requests: (n: number) => `${plural(n, "server")} ${n === 1 ? "was" : "were"} requested`,
    decide: "Decide",
    noEndpoint: "There is no endpoint: no client can reach the servers.",
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
    columns: {
      name: "Endpoint",
      surface: "Surface",
      namespaces: "Namespaces",
      access: "Access",
      clients: "Clients",
      calls: "Calls, last hour",
    },
    off: "off",
    none: "No endpoint yet. An endpoint is the address that clients use.",
  },
  servers: { title: "Servers", all: "All servers", none: "No servers yet." },
  start: {
    title: "Get a first client going",
    answer: "Five steps, about three minutes.",
    skip: "Skip this",
    resume: "Show the first steps",
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
      text: "A client shows this key to be let in. It is told this once.",
      make: "Create a key",
      name: "First client",
      done: "Created. It stands in the config below.",
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
