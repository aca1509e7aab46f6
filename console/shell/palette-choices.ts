/** The entries of the command palette that the logged-in person may use. */
import { hrefOf, SHELL_PAGES, type Target } from "../address.ts";
import { ApiProblem, send } from "../api/client.ts";
import type { Endpoint, Namespace, Server } from "../api/types.ts";
import { copyText } from "../components/copy-text.ts";
import { toast } from "../components/toasts.tsx";
import { CONFIG, STATES, useList, useResource } from "../live/resource.ts";
import { go } from "../navigate.ts";
import { SHELL } from "../pages.ts";
import { logOut, may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";
import { chooseTheme, THEMES } from "../theme.ts";

const { palette: texts, pages } = shellTexts;

export interface Choice {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  /** Monospaced, for names of objects. */
  readonly mono?: boolean;
  readonly run: () => void;
}

/** `typed` decides what is looked up at the gateway: tools and calls are many. */
export function useChoices(typed: string): readonly Choice[] {
  const params = may("objects.read") ? {} : undefined;
  const people = useList("/users", may("people") ? {} : undefined, {}).value.value ?? [];
  const keys = useList("/api-keys", may("keys.read") ? {} : undefined, {}).value.value ?? [];
  const tools = useTools(typed);
  const servers = useList("/mcp-servers", params, STATES).value.value ?? [];
  const namespaces = useList("/namespaces", params, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", params, CONFIG).value.value ?? [];
  return [
    ...pageChoices(),
    ...actionChoices(),
    ...servers.map((one) => objectChoice("servers", one, texts.server)),
    ...endpoints.map((one) => objectChoice("endpoints", one, texts.endpoint)),
    ...namespaces.map((one) => objectChoice("namespaces", one, texts.namespace)),
    ...people.map(({ uuid, email }) => linkChoice(uuid, email, texts.person, { page: "people", id: uuid })),
    ...keys.map(({ uuid, name }) => linkChoice(uuid, name, texts.key, { page: "keys", id: uuid })),
    ...tools,
    ...(may("servers.use") ? servers.filter(({ disabled }) => !disabled).map(restartChoice) : []),
    ...endpoints.map(addressChoice),
    ...callChoices(typed),
  ].filter((choice) => choice !== undefined);
}

/** Returns the entries that contain every typed word. Names that start with the first word come first. */
export function matchingChoices(choices: readonly Choice[], typed: string): readonly Choice[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const [first = ""] = words;
  const matches = choices.filter(({ name, kind }) => {
    const text = `${name} ${kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rank = ({ name }: Choice): number => (name.toLowerCase().startsWith(first) ? 0 : 1);
  return matches.toSorted((a, b) => rank(a) - rank(b));
}

function pageChoices(): readonly Choice[] {
  return SHELL_PAGES.flatMap((page) => {
    const entry = SHELL[page];
    if (!entry || !may(entry.action) || page === "components") return [];
    return [{ key: page, name: pages[page], kind: texts.page, run: () => go({ page }) }];
  });
}

/** Tools are searched by the gateway, once something is typed. */
function useTools(typed: string): readonly Choice[] {
  const q =
    typed
      .trim()
      .split(/[\s:]+/)
      .at(-1) ?? "";
  const asked = may("objects.read") && q.length > 1 ? { q, limit: MAX_TOOLS } : undefined;
  const { items = [], servers = [] } = useResource("/tools", asked, {}).value.value ?? {};
  const nameOf = new Map(servers.map(({ uuid, name }) => [uuid, name]));
  return items.map(({ server, tool }) => ({
    ...linkChoice(`tool ${server} ${tool}`, `${nameOf.get(server) ?? ""}:${tool}`, texts.tool, {
      page: "tools",
      id: `${server}:${tool}`,
    }),
    mono: true,
  }));
}

const MAX_TOOLS = 30;
const DOCUMENTATION = "/docs/console.md";

/** A call by its id, or all calls with the typed text. */
function callChoices(typed: string): readonly Choice[] {
  const text = typed.trim();
  if (!may("stats.read") || text === "") return [];
  const [, id] = /^(?:call\s+)?((?:[\w]+-)?\d+)$/i.exec(text) ?? [];
  const one =
    id === undefined ? [] : [linkChoice("call", texts.callNamed(id), texts.call, { page: "traffic", id })];
  return [
    ...one,
    linkChoice("calls", texts.callsWith(text), texts.call, { page: "traffic", query: { q: text } }),
  ];
}

function linkChoice(key: string, name: string, kind: string, target: Target): Choice {
  return { key, name, kind, run: () => go(target) };
}

function actionChoices(): readonly Choice[] {
  const to = (key: keyof typeof texts.actions, allowed: boolean, target: Target): readonly Choice[] =>
    allowed ? [linkChoice(key, texts.actions[key], texts.action, target)] : [];
  const run = (key: string, name: string, act: () => void): Choice => ({
    key,
    name,
    kind: texts.action,
    run: act,
  });
  return [
    ...to("addServer", may("servers.write"), { page: "servers", query: { add: "paste" } }),
    ...to("findServer", may("servers.write"), { page: "servers", query: { add: "find" } }),
    ...to("newNamespace", may("namespaces.write"), { page: "namespaces", query: { new: "1" } }),
    ...to("newEndpoint", may("endpoints.write"), { page: "endpoints", query: { new: "1" } }),
    ...to("newKey", may("keys.write"), { page: "keys", query: { new: "1" } }),
    ...to("invite", may("people"), { page: "people", query: { new: "1" } }),
    ...to("connect", may("endpoints.use"), { page: "me" }),
    ...to("failed", may("stats.read"), { page: "traffic", query: { outcome: "error" } }),
    ...to("refused", may("stats.read"), { page: "traffic", query: { outcome: "refused" } }),
    ...to("password", may("me.change"), { page: "me" }),
    ...THEMES.map((one) => run(`theme ${one}`, shellTexts.themes[one], () => chooseTheme(one))),
    run("documentation", shellTexts.documentation, () => location.assign(DOCUMENTATION)),
    run("log out", shellTexts.logOut, () => {
      logOut().catch(failed);
    }),
  ];
}

function objectChoice(
  page: "servers" | "namespaces" | "endpoints",
  { uuid, name }: Server | Namespace | Endpoint,
  kind: string,
): Choice | undefined {
  if (!SHELL[page]) return undefined;
  return { key: uuid, name, kind, mono: true, run: () => go(hrefOf({ page, id: uuid })) };
}

function restartChoice({ uuid, name }: Server): Choice {
  return {
    key: `restart ${uuid}`,
    name: texts.restart(name),
    kind: texts.action,
    run: () =>
      void send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } }).then(
        ({ connection: { connected, reason } }) =>
          toast({
            kind: connected ? "done" : "failed",
            text: texts.restarted(name, connected ? undefined : (reason ?? "")),
          }),
        failed,
      ),
  };
}

function addressChoice({ uuid, name }: Endpoint): Choice {
  return {
    key: `address ${uuid}`,
    name: texts.copyAddress(name),
    kind: texts.action,
    run: () =>
      void copyText(`${location.origin}/metamcp/${name}/mcp`).then(
        (done) => done && toast({ text: texts.copied }),
      ),
  };
}

function failed(error: unknown): void {
  if (error instanceof ApiProblem) toast({ kind: "failed", text: error.message });
  else throw error;
}
