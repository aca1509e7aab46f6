/** The entries of the command palette that the logged-in person may use. */
import { hrefOf, SHELL_PAGES } from "../address.ts";
import { ApiProblem, send } from "../api/client.ts";
import type { Endpoint, Namespace, Server } from "../api/types.ts";
import { copyText } from "../components/copy-text.ts";
import { toast } from "../components/toasts.tsx";
import { CONFIG, STATES, useList } from "../live/resource.ts";
import { go } from "../navigate.ts";
import { SHELL } from "../pages.ts";
import { may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";

const { palette: texts, pages } = shellTexts;

export interface Choice {
  readonly key: string;
  readonly name: string;
  readonly kind: string;
  /** Monospaced, for names of objects. */
  readonly mono?: boolean;
  readonly run: () => void;
}

export function useChoices(): readonly Choice[] {
  const params = may("objects.read") ? {} : undefined;
  const servers = useList("/mcp-servers", params, STATES).value.value ?? [];
  const namespaces = useList("/namespaces", params, CONFIG).value.value ?? [];
  const endpoints = useList("/endpoints", params, CONFIG).value.value ?? [];
  return [
    ...pageChoices(),
    ...actionChoices(),
    ...servers.map((one) => objectChoice("servers", one, texts.server)),
    ...endpoints.map((one) => objectChoice("endpoints", one, texts.endpoint)),
    ...namespaces.map((one) => objectChoice("namespaces", one, texts.namespace)),
    ...(may("servers.use") ? servers.filter(({ disabled }) => !disabled).map(restartChoice) : []),
    ...endpoints.map(addressChoice),
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

function actionChoices(): readonly (Choice | undefined)[] {
  const kind = texts.action;
  return [
    may("servers.write")
      ? {
          key: "add-server",
          name: texts.addServer,
          kind,
          run: () => go({ page: "servers", query: { add: "paste" } }),
        }
      : undefined,
    may("keys.write") && SHELL.keys
      ? { key: "new-key", name: texts.newKey, kind, run: () => go({ page: "keys", query: { new: "1" } }) }
      : undefined,
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
