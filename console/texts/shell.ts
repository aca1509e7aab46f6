/** Texts of the shell: navigation, header, states that every page has. */
import type { PageName } from "../address.ts";
import type { Connection } from "../live/events.ts";
import type { Theme } from "../theme.ts";

export const shellTexts = {
  product: "MetaMCP",
  pages: {
    overview: "Overview",
    servers: "Servers",
    tools: "Tools",
    try: "Try it",
    namespaces: "Namespaces",
    endpoints: "Endpoints",
    traffic: "Traffic",
    sessions: "Sessions",
    audit: "Audit",
    keys: "Keys",
    people: "People",
    requests: "Requests",
    history: "History",
    settings: "Settings",
    me: "My account",
    components: "Components",
    login: "Log in",
    setup: "Set up",
    invitations: "Invitation",
  } satisfies Record<PageName, string>,
  navigation: "Pages",
  menu: "Menu",
  skip: "Skip to the page",
  search: "Go to …",
  attention: (n: number) => `${n} ${n === 1 ? "needs" : "need"} attention`,
  connection: {
    live: "live",
    reconnecting: "connecting",
    offline: "offline",
  } satisfies Record<Connection, string>,
  connectionTitle: {
    live: "What changes at the gateway shows here by itself",
    reconnecting: "Waiting for the stream of changes",
    offline: "The gateway does not answer",
  } satisfies Record<Connection, string>,
  offline:
    "The gateway does not answer. What you see may be out of date; this goes on by itself when it is back.",
  outdated: "The gateway was updated. Reload this page to get the console that belongs to it.",
  account: (name: string) => `Account ${name}`,
  themes: { system: "Theme of the system", light: "Light theme", dark: "Dark theme" } satisfies Record<
    Theme,
    string
  >,
  showKeys: "Keyboard shortcuts",
  logOut: "Log out",
  cancel: "Cancel",
  managed: (file: string) => `Managed by ${file}: change it there. The console shows it only.`,
  order: {
    up: (name: string) => `Move ${name} up`,
    down: (name: string) => `Move ${name} down`,
    remove: (name: string) => `Remove ${name}`,
    take: "Remove",
    add: "Add …",
  },
  draft: {
    meanwhile: "Somebody else changed this meanwhile (− theirs, + yours):",
    mine: "Keep mine",
    theirs: "Take theirs",
    discard: "Discard changes",
    saved: (name: string) => `${name} is saved`,
  },
  roles: { admin: "Administrator", editor: "Editor", viewer: "Viewer", member: "Member" },
  limits: { sessions: "Limit of sessions", inFlight: "Limit of requests at once", none: "no limit" },
  noTools: {
    title: "No tools are known yet",
    text: "No server has been started yet. Each starts when a client first needs it, or now.",
    start: (n: number) => (n === 1 ? "Start the server" : `Start all ${n} servers`),
  },
  gone: {
    title: "Not found",
    text: "What this address named is not here any more. Somebody may have deleted it.",
  },
  missing: {
    title: "There is no such page",
    text: "The address may be mistyped, or what it named is gone.",
    back: "Go to the overview",
  },
  forbidden: {
    title: "Your role does not open this page",
    text: (role: string) => `You are logged in as ${role}. An administrator can give you another role.`,
  },
  unreachable: {
    title: "The gateway does not answer",
    text: "It may be starting or stopped. This page tries again by itself.",
  },
  notLoaded: {
    title: "This page could not be loaded",
    text: "The gateway was updated, or it did not answer. Reload the page to get the newest one.",
    reload: "Reload",
  },
  problem: {
    title: "This could not be read",
    again: "Try again",
  },
  keys: {
    title: "Keyboard shortcuts",
    rows: (command: string): readonly (readonly [readonly string[], string])[] => [
      [[command, "K"], "Go anywhere, and do the common things"],
      [["/"], "Search this page"],
      [["↑", "↓"], "Move in tables and menus"],
      [["Space"], "Select the row"],
      [["Enter"], "Open the row"],
      [["Esc"], "Close what is open"],
      [["?"], "Show these keys"],
    ],
    close: "Close",
  },
  palette: {
    title: "Go to or do",
    placeholder: "Go to a page, a server, an endpoint, or do something",
    nothing: "Nothing fits. Try fewer letters.",
    page: "page",
    server: "server",
    namespace: "namespace",
    endpoint: "endpoint",
    action: "action",
    restart: (name: string) => `Restart ${name}`,
    restarted: (name: string, reason: string | undefined) =>
      reason === undefined ? `${name} is connected again` : `${name} could not be connected: ${reason}`,
    copyAddress: (name: string) => `Copy the address of ${name}`,
    copied: "Address copied",
    newKey: "Create an API key",
    addServer: "Add a server",
  },
} as const;
