/** Texts of the page Endpoints. */
import { count, plural } from "../format.ts";

export const endpointsTexts = {
  title: "Endpoints",
  summary: (all: number, off: number, open: number) =>
    `${[`${plural(all, "endpoint")}`, off > 0 && `${count(off)} off`, open > 0 && `${count(open)} public`]
      .filter(Boolean)
      .join(", ")}.`,
  list: "Endpoints",
  search: "Search endpoints",
  create: "Create endpoint",
  empty: {
    title: "No endpoints yet",
    text: "Clients connect to an endpoint. It offers the tools of one or more namespaces.",
  },
  columns: {
    name: "Endpoint",
    surface: "Surface",
    namespaces: "Namespaces",
    access: "Access",
    sessions: "Clients",
    calls: "Calls, last hour",
  },
  disabled: "off",
  access: { public: "public", keys: "keys", oauth: "OAuth", none: "nobody" },
  none: "none",
  surfaces: {
    meta: "meta: four tools to find and call all others",
    metatools: "metatools: tools to search, describe, run and chain",
    aggregate: "aggregate: every tool, prompt and resource",
    auto: "auto: aggregate while the list is small, else meta",
  },
  tabs: {
    label: "Parts of the endpoint",
    connect: "Connect",
    preview: "What a client sees",
    settings: "Settings",
    access: "Access",
    pipeline: "Pipeline",
    test: "Self-test",
  },
  connect: {
    address: "Copy address",
    openapi: "As plain HTTP",
    tryIt: "Try it",
  },
  preview: {
    as: "Seen by",
    self: "yourself",
    and: "Compare with",
    nobody: "nobody",
    key: (name: string) => `key ${name}`,
    shown: (tools: number, tokens: string) =>
      `A client sees ${plural(tools, "tool")}, about ${tokens} tokens.`,
    hidden: (hidden: number, all: number) =>
      `${count(hidden)} of ${plural(all, "tool")} cannot be used, and why`,
    compared: "What each of them may use",
    differ: (differ: number, all: number) =>
      differ === 0
        ? `Both may use the same of ${plural(all, "tool")}.`
        : `${count(differ)} of ${plural(all, "tool")} ${differ === 1 ? "differs" : "differ"}; they come first.`,
    yes: "may",
    no: "may not",
    checked: "checked first",
    common: (gates: string) => `For every tool: ${gates}.`,
    full: (tokens: string, tools: number) =>
      `A full list of ${plural(tools, "tool")} would cost about ${tokens}.`,
    refused: "This account cannot use the endpoint.",
    instructions: "Instructions",
    noInstructions: "No instructions.",
    tools: "Listed tools",
    columns: { name: "Tool", description: "Description", bytes: "Size", tokens: "Tokens", why: "Why not" },
    more: (prompts: number, resources: number) =>
      `${plural(prompts, "prompt")}, ${plural(resources, "resource")}.`,
    unknown: (names: string) => `Not listed yet, because they never connected: ${names}.`,
    unavailable: "Not available",
  },
  form: {
    title: "Create an endpoint",
    name: "Name",
    nameHint: (url: string) => `It is part of the address: ${url}`,
    description: "Description",
    namespaces: "Namespaces",
    namespacesHint: "If two namespaces have the same tool, the first one counts.",
    noNamespaces: "There is no namespace yet.",
    surface: "Surface",
    code: "Allow code execution",
    openapi: "Also offer the tools over plain HTTP",
    stateless: "Stateless (no sessions)",
    jsonResponse: "Answer with JSON instead of event streams",
    on: "On",
    onHint: "If it is off, its sessions end at once, and its address answers 404.",
    save: "Save",
    create: "Create endpoint",
  },
  accessForm: {
    public: "Public",
    publicHint: "Anyone can use it without a login or key.",
    keys: "API keys",
    oauth: "OAuth login",
    oauthHint: "Clients that have only the address send their user to a login page of this gateway.",
    queryKey: "Accept a key in the address (?api_key=)",
    queryKeyHint: "For clients that accept only an address. Addresses may appear in logs.",
    restrict: "Only for some accounts",
    users: "People",
    usersHint: "Everybody in one of these lists may use it.",
    groups: "Groups",
    groupsHint: "Choose one, or type the name of a group of your identity provider.",
    roles: "Roles",
    rolesHint: "Each includes the roles with more rights.",
    whoMay: (n: number) =>
      n === 0 ? "Nobody can use this." : `${plural(n, "person", "people")} can use this:`,
    whoElse: (n: number) => ` and ${plural(n, "more", "more")}.`,
    origins: "Web pages that may call it",
    originsHint: "Origins such as https://app.example.org, separated by commas.",
    save: "Save",
  },
  test: {
    text: "Connects as a client would: discovery, login metadata, the first request, the list of tools.",
    run: "Run self-test",
    ok: "All steps passed.",
    failed: "A step failed.",
  },
  remove: {
    action: "Delete endpoint",
    title: (name: string) => `Delete ${name}?`,
    text: "Its address stops working and its sessions end at once. Namespaces and servers stay. You can roll this back on the page History.",
    done: (name: string) => `${name} is deleted`,
  },
} as const;
