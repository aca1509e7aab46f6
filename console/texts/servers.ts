/** Texts of the servers page. */
import type { FieldName } from "../../src/config/server-fields.ts";
import type { ConnectionStatus } from "../api/types.ts";
import { count, duration, plural } from "../format.ts";

export const serverTexts = {
  title: "Servers",
  list: "Servers",
  states: {
    connected: "connected",
    idle: "idle",
    connecting: "connecting",
    failed: "failed",
    untried: "failed earlier",
    closed: "closed",
    disabled: "off",
  } satisfies Record<Exclude<ConnectionStatus["state"], "active"> | "connected" | "untried", string>,
  idleHint: "starts on first use",
  retry: (ms: number) => (ms > 0 ? `in ${duration(ms)}` : "at the next call"),
  summary: {
    none: "No servers yet.",
    old: "The gateway does not answer. These are the last known states.",
    well: (n: number) => (n === 1 ? "The server is OK." : `All ${n} servers are OK.`),
    wellSoFar: (all: number, idle: number) =>
      `No server fails; ${count(idle)} of ${count(all)} ${idle === 1 ? "is" : "are"} not started now and start${idle === 1 ? "s" : ""} with the next call.`,
    unused: (n: number) =>
      n === 1
        ? "The server has not started yet. It starts when a client first needs it."
        : `${count(n)} servers, none started yet. Each starts when a client first needs it.`,
    attention: (failed: number, all: number) =>
      all === 1
        ? "The server needs attention:"
        : `${failed} of ${plural(all, "server")} ${failed === 1 ? "needs" : "need"} attention:`,
    more: (n: number) => `and ${n} more`,
    untried: (n: number) =>
      ` ${count(n)} failed earlier and ${n === 1 ? "was" : "were"} not tried since the gateway started.`,
  },
  columns: {
    name: "Server",
    state: "State",
    reached: "Command or address",
    tools: "Tools",
    calls: (range: string) => `Calls, ${range}`,
    p95: "p95",
  },
  search: "Search servers",
  add: "Add server",
  restart: "Restart",
  tryNow: "Try now",
  logIn: "Log in",
  restarted: (name: string) => `${name} is connected again.`,
  notRestarted: (name: string, reason: string) => `${name} could not be connected: ${reason}`,
  turnOn: "Turn on",
  turnOff: "Turn off",
  turnedOff: (name: string) => `${name} is off. Clients no longer see its tools.`,
  turnedOn: (name: string) => `${name} is on.`,
  more: "More",
  delete: "Delete …",
  empty: {
    title: "Add the first server",
    text: "A server has tools for files, GitHub, a database, a browser … MetaMCP starts it on first use and monitors it.",
  },
  tabs: { state: "State", tools: "Tools", settings: "Settings", log: "Log", calls: "Calls" },
  tabsLabel: "About this server",
  fields: {
    reason: "Reason",
    next: "Next attempt",
    lastTried: "Last tried",
    untried: "before the gateway started, and not since",
    reached: "Command or address",
    folder: "Folder",
    touches: "May touch",
    instances: "Processes",
    namespaces: "In namespaces",
    noNamespace: "none, so no client sees its tools",
    labels: "Labels",
    description: "Description",
    managedBy: "Managed by",
    byApi: "the console and the API",
    changed: "Last changed",
    revision: (n: number) => `revision ${n}`,
    calls: "Calls, last hour",
    figures: (calls: string, errors: string, p95: string | undefined) =>
      `${calls}, ${errors} failed${p95 === undefined ? "" : `, p95 ${p95}`}`,
    noCalls: "none",
    inNamespace: (n: number) => `${n} running`,
  },
  happened: {
    title: "What happened",
    failures: (n: number) => `It failed ${n} times; the first of these was`,
    earlier: (n: number) => plural(n, "earlier event"),
    states: {
      connecting: "connecting",
      started: "started",
      connected: "connected",
      failed: "failed",
      closed: "closed",
    },
    pid: (pid: number) => `pid ${pid}`,
  },
  tools: {
    columns: { name: "Tool", about: "What it does", kind: "Kind" },
    search: "Search tools",
    none: "Its tools are not known yet. Restart it to list them.",
  },
  log: {
    label: "stderr of the server",
    empty: "No output since the gateway started.",
  },
  calls: {
    columns: { at: "When", tool: "Tool", who: "Who", took: "Took", outcome: "Outcome" },
    none: "No calls since the gateway started.",
    label: "Last calls of this server",
  },
  form: {
    name: "Name",
    kind: "Type",
    kinds: {
      stdio: "Local: a command on the gateway's machine",
      remote: "Remote: an address on the network",
      openapi: "API: an OpenAPI document, whose operations become tools",
    },
    /** Further hints for single fields. */
    hints: { cwd: "Default: where the gateway was started." } as Readonly<Partial<Record<FieldName, string>>>,
    lines: "One on each line.",
    commas: "Separated by commas.",
    patterns: "Separated by commas; * matches anything.",
    time: 'Milliseconds, or "30s", "5m".',
    encrypted: "Values are encrypted in the store and never shown again.",
    more: "More settings",
    nameOf: "Name",
    valueOf: "Value",
    addRow: "Add",
    removeRow: (name: string) => (name === "" ? "Remove" : `Remove ${name}`),
    kept: "Stored. Type to replace it.",
    plainSecret: (what: string) =>
      `“${what}” looks like a secret. Arguments and addresses are stored in plain text. Put it into the environment or a header, which are encrypted.`,
    asJson: "Edit as JSON",
    asForm: "Edit as form",
    shown: { json: "Show as JSON", form: "Show as form" },
    json: "The server as JSON",
    jsonBroken: "This is not valid JSON.",
    save: "Save",
    create: "Add server",
    unchanged: "No changes.",
    readOnly: (file: string) =>
      `${file} manages this server. Change it there, or manage it here from now on: then the file no longer changes it.`,
    takeOver: "Manage here and save",
    noRight: "Your role can only view this.",
  },
  flow: {
    title: (name: string) => `Changing ${name}`,
    storing: "Storing",
    stored: (revision: number) => `Stored as revision ${revision}`,
    closing: "Closing the old connection",
    closed: (pid: number | undefined) => `Old connection closed${pid === undefined ? "" : ` (pid ${pid})`}`,
    starting: "Reconnecting",
    started: (pid: number | undefined) =>
      pid === undefined ? "Server answers" : `New process started (pid ${pid})`,
    shaking: "Handshake",
    connected: (tools: number) => `Handshake, ${plural(tools, "tool")}`,
    failed: (reason: string) => `Not connected: ${reason}`,
    compiling: "Rebuilding namespaces",
    compiled: (names: readonly string[]) =>
      names.length === 0
        ? "It is in no namespace"
        : `${names.length === 1 ? "Namespace" : "Namespaces"} ${names.join(", ")} rebuilt`,
    telling: "Notifying clients",
    told: (clients: number) =>
      clients === 0 ? "No client's list changed" : `${plural(clients, "client")} notified`,
    done: "Server updated successfully",
    doneFailed: "The change is stored, but the server cannot be reached.",
    edit: "Edit",
    back: "Back to the settings",
    rollBack: "Roll back",
    rolledBack: (name: string) => `${name} is restored.`,
  },
  remove: {
    title: (name: string) => `Delete ${name}?`,
    text: "Its connection ends, and running calls fail. You can roll this back on the page History.",
    from: (names: string) => `It is removed from ${names}.`,
    alone: "It is in no namespace.",
    submit: "Delete server",
    done: (name: string) => `${name} is deleted.`,
  },
  adding: {
    title: "Add a server",
    tabs: { paste: "Paste", find: "Gallery and registry", form: "Form" },
    tabsLabel: "Ways to add a server",
    paste: "Config of a client, an address, or a command",
    pasteHint: "The config of Claude, Cursor, VS Code and other clients works unchanged.",
    pasteExample:
      'For example:\n{\n  "mcpServers": {\n    "files": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]\n    }\n  }\n}',
    json: (line: number | undefined, reason: string | undefined) =>
      [line === undefined ? "This is not valid JSON" : `Line ${line} is not valid JSON`, reason]
        .filter(Boolean)
        .join(": "),
    none: "This contains no server: an entry needs a command or a url.",
    found: (n: number) => `${plural(n, "server")} found`,
    exists: "already exists: tick it to replace its settings",
    replaced: "already exists: its settings will be replaced",
    add: (added: number, replaced: number) =>
      replaced === 0
        ? added === 1
          ? "Add server"
          : `Add ${added} servers`
        : added === 0
          ? `Replace ${plural(replaced, "server")}`
          : `Add ${plural(added, "server")}, replace ${count(replaced)}`,
    find: "What do you need?",
    findPlaceholder: "read files, search the web, github …",
    findNone: "No match. Try other words, or paste a config.",
    from: { gallery: "gallery", registry: "registry" },
    /** In the order in which they are shown. */
    categories: {
      files: "Files",
      search: "Search and pages",
      browser: "Browsers",
      development: "Development",
      databases: "Databases",
      memory: "Memory",
      productivity: "Notes, tasks and calendars",
      communication: "Messages",
      design: "Design",
      media: "Sound and pictures",
      cloud: "Cloud",
      monitoring: "Monitoring",
      business: "Business",
      everyday: "Everyday",
    } as Readonly<Record<string, string>>,
    otherCategory: "From the registry",
    tried: "tested",
    needsKey: "needs a key",
    choose: "Choose",
    chooseOther: "Choose another",
    runs: "Runs",
    calls: "Its address",
    warning: "This runs on the gateway's machine.",
    touches: "It may touch:",
    namespace: "Who sees the tools?",
    namespaceNone: "Nobody yet",
    namespaceOf: (name: string) => `Clients of the namespace ${name}`,
    namespaceNew: (exists: boolean) =>
      exists ? "Clients of the endpoint “default”" : "Clients of a new endpoint “default”",
    trying: "Testing",
    works: (n: number) => `connected, ${plural(n, "tool")}`,
    done: "Done",
    goOn: "Continue",
    warnings: "Not imported",
  },
} as const;
