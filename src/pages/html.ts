/**
 * HTML pages for people who log in. They work without script, cannot be framed, and load nothing from other
 * origins.
 */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { STYLE } from "./page-style.ts";

/** Text that is already HTML and is not escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Template tag that escapes all values except `Html`. */
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
  /** URL that its forms may redirect to. Browsers apply `form-action` to redirects too. */
  readonly formTarget?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function pageText({ title, body }: HtmlPage): string {
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title} – MetaMCP</title><style>${new Html(STYLE)}</style>`;
  return `<!doctype html>\n${html`<html lang="en"><head>${head}</head><body><main><p class="product">MetaMCP</p><div class="card"><h1>${title}</h1>${body}</div></main></body></html>`.text}`;
}

export function pageHeaders({ formTarget, headers }: HtmlPage): Readonly<Record<string, string>> {
  const target = formTarget === undefined ? "" : sourceOf(formTarget);
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // With "no-referrer" browsers would send "Origin: null" for our own forms.
    "referrer-policy": "same-origin",
    ...headers,
  };
}

export function sendPage(response: ServerResponse, page: HtmlPage): void {
  for (const [name, value] of Object.entries(pageHeaders(page))) response.setHeader(name, value);
  response.writeHead(page.status ?? 200).end(pageText(page));
}

/** The URL as a source of a content security policy. */
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

export function faultPage(fault: string, status = 400): HtmlPage {
  return { title: "Something went wrong", status, body: html`<p>${fault}</p>` };
}
