/** Pages of the authorization server: plain HTML that works without script, in no frame, and asks no other address. */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { STYLE } from "./page-style.ts";

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Every value is escaped, but for what is HTML already. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const written = values.map((value) => (value instanceof Html ? value.text : escaped(value)));
  return new Html(parts.map((part, index) => part + (written[index] ?? "")).join(""));
}

export const NOTHING = html``;

const STYLE_SOURCE = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

export interface HtmlPage {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** Where its forms may lead in the end, beside us: browsers check that for redirects too. */
  readonly leadsTo?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function pageText({ title, body }: HtmlPage): string {
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title} – MetaMCP</title><style>${new Html(STYLE)}</style>`;
  return `<!doctype html>\n${html`<html lang="en"><head>${head}</head><body><main><p class="product">MetaMCP</p><div class="card"><h1>${title}</h1>${body}</div></main></body></html>`.text}`;
}

export function pageHeaders({ leadsTo, headers }: HtmlPage): Readonly<Record<string, string>> {
  const target = leadsTo === undefined ? "" : sourceOf(leadsTo);
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // With "no-referrer" browsers would call our own forms those of nobody.
    "referrer-policy": "same-origin",
    ...headers,
  };
}

export function sendPage(response: ServerResponse, page: HtmlPage): void {
  for (const [name, value] of Object.entries(pageHeaders(page))) response.setHeader(name, value);
  response.writeHead(page.status ?? 200).end(pageText(page));
}

/** As a content security policy names it. */
function sourceOf(uri: string): string {
  if (!URL.canParse(uri)) return "";
  const { protocol, origin } = new URL(uri);
  return ` ${/^https?:$/.test(protocol) ? origin : protocol}`;
}

const CHARACTERS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => CHARACTERS[character] ?? "");
}
