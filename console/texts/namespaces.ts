/** Texts of the page Namespaces. */
import { count, plural } from "../format.ts";

export const namespacesTexts = {
  title: "Namespaces",
  summary: (all: number, unused: number) =>
    `${plural(all, "namespace")}${unused > 0 ? `, ${plural(unused, "is", "are")} in no endpoint` : ""}.`,
  list: "Namespaces",
  search: "Search namespaces",
  create: "Create namespace",
  empty: {
    title: "No namespaces yet",
    text: "A namespace groups servers. It sets which of their tools are on, and their names.",
  },
  columns: {
    name: "Namespace",
    servers: "Servers",
    tools: "Tools on",
    tokens: "Full list",
    endpoints: "Endpoints",
    newTools: "New tools",
  },
  toolsOn: (on: number, all: number) => `${count(on)} of ${count(all)}`,
  tokens: (tokens: string) => `≈ ${tokens} tokens`,
  newTools: { enabled: "on", disabled: "off" },
  none: "none",
  tabs: {
    label: "Parts of the namespace",
    servers: "Servers",
    tools: "Tools",
    settings: "Settings",
    pipeline: "Pipeline",
  },
  form: {
    title: "Create a namespace",
    name: "Name",
    description: "Description",
    descriptionHint: "Clients get it as part of the instructions.",
    newTools: "New tools are",
    newToolsChoices: {
      enabled: "on: new tools of a server appear automatically",
      disabled: "off: somebody must turn them on",
    },
    search: "Search servers",
    create: "Create namespace",
    save: "Save",
  },
  servers: {
    text: "Servers whose tools are in this namespace.",
    onOf: (server: string) => `${server} is on`,
    prefixOf: (server: string) => `Prefix of ${server}`,
    prefixHint:
      "The aggregate surface names a tool PREFIX__tool. An empty field means the server name; “none” means no prefix.",
    columns: { server: "Server", prefix: "Prefix", on: "On" },
    add: "Add server …",
    none: "No server is in this namespace yet.",
    remove: "Remove",
    save: "Save",
  },
  tools: {
    sentence: (on: number, all: number, held: number) =>
      `${on} of ${plural(all, "tool")} are on.${held > 0 ? ` ${plural(held, "waits", "wait")} for approval.` : ""}`,
    common: (gates: string) => `For every tool: ${gates}.`,
    columns: { tool: "Tool", name: "Other name here", state: "State" },
    on: "on",
    off: "off",
    missing: "not listed by its server",
    edit: "Edit tools",
    search: "Search tools",
  },
  remove: {
    action: "Delete namespace",
    title: (name: string) => `Delete ${name}?`,
    text: "This also deletes its rules for tools. Servers stay. You can roll this back on the page History.",
    used: (endpoints: string) => `It is removed from: ${endpoints}.`,
    done: (name: string) => `${name} is deleted`,
  },
} as const;
