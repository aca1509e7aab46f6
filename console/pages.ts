/**
 * The table of pages: the action that each requires, and the import of its code. A page is one line here, one
 * folder and one file of texts.
 */
import type { ComponentType } from "preact";
import type { Action } from "../src/access/may.ts";
import type { BarePage, ShellPage } from "./address.ts";
import Overview from "./pages/overview/overview.tsx";

/** False in what is published. The build sets it. */
declare const __SAMPLES__: boolean;

type Load = () => Promise<{ readonly default: ComponentType }>;

/** The first page is part of the first file. All others are chunks of their own. */
type Code = { readonly page: ComponentType } | { readonly load: Load };

export type ShellEntry = Code & {
  /** People who may not do this do not see the page. */
  readonly action: Action;
};

export const SHELL: Readonly<Partial<Record<ShellPage, ShellEntry>>> = {
  overview: { page: Overview, action: "objects.read" },
  servers: { load: () => import("./pages/servers/servers.tsx"), action: "objects.read" },
  tools: { load: () => import("./pages/tools/tools.tsx"), action: "objects.read" },
  try: { load: () => import("./pages/try/try.tsx"), action: "endpoints.try" },
  namespaces: { load: () => import("./pages/namespaces/namespaces.tsx"), action: "objects.read" },
  endpoints: { load: () => import("./pages/endpoints/endpoints.tsx"), action: "objects.read" },
  traffic: { load: () => import("./pages/traffic/traffic.tsx"), action: "stats.read" },
  sessions: { load: () => import("./pages/sessions/sessions.tsx"), action: "sessions" },
  audit: { load: () => import("./pages/audit/audit.tsx"), action: "audit.read" },
  keys: { load: () => import("./pages/keys/keys.tsx"), action: "keys.read" },
  people: { load: () => import("./pages/people/people.tsx"), action: "people" },
  requests: { load: () => import("./pages/requests/requests.tsx"), action: "approvals.decide" },
  history: { load: () => import("./pages/history/history.tsx"), action: "history.read" },
  replicas: { load: () => import("./pages/replicas/replicas.tsx"), action: "stats.read" },
  settings: { load: () => import("./pages/settings/settings.tsx"), action: "settings" },
  me: { load: () => import("./pages/me/me.tsx"), action: "me.read" },
  // The samples of all components are for those who work on the console.
  ...(__SAMPLES__ && {
    components: { load: () => import("./pages/components/components.tsx"), action: "me.read" as const },
  }),
};

export const BARE: Readonly<Record<BarePage, Load>> = {
  login: () => import("./pages/login/login.tsx"),
  setup: () => import("./pages/setup/setup.tsx"),
  invitations: () => import("./pages/invitations/invitation.tsx"),
};
