/** Pages of the authorization server: plain HTML that works without script, in no frame, and asks no other address. */
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";

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

const CSS = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1a1d21; --quiet: #5b6470;
  --line: #d5dae1; --accent: #2457c5; --on-accent: #fff; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1c2024; --text: #e8eaed; --quiet: #9aa4b0;
  --line: #363d45; --accent: #8ab0ff; --on-accent: #10131a; --wrong: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px;
  background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 400px; padding: 24px; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
h1 { margin: 0 0 16px; font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0 0 16px; overflow-wrap: anywhere; }
dl { margin: 0 0 16px; display: grid; grid-template-columns: auto 1fr; gap: 8px 16px; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: 13px; }
label { display: block; margin-bottom: 16px; }
input { display: block; width: 100%; margin-top: 4px; padding: 8px; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--line); border-radius: 4px; }
button, .button { display: inline-block; padding: 8px 16px; font: inherit; font-weight: 600; color: var(--text);
  background: none; border: 1px solid var(--line); border-radius: 4px; cursor: pointer; text-decoration: none; }
button.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; gap: 8px; flex-wrap: wrap; }
.quiet { color: var(--quiet); font-size: 13px; }
.wrong { color: var(--wrong); }
`;
const STYLE = `'sha256-${createHash("sha256").update(CSS).digest("base64")}'`;

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** Where its forms may lead in the end, beside us: browsers check that for redirects too. */
  readonly leadsTo?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export function pageText({ title, body }: Page): string {
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title} – MetaMCP</title><style>${new Html(CSS)}</style>`;
  return `<!doctype html>\n${html`<html lang="en"><head>${head}</head><body><main><h1>${title}</h1>${body}</main></body></html>`.text}`;
}

export function pageHeaders({ leadsTo, headers }: Page): Readonly<Record<string, string>> {
  const target = leadsTo === undefined ? "" : sourceOf(leadsTo);
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src ${STYLE}; form-action 'self'${target}; frame-ancestors 'none'; base-uri 'none'`,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // With "no-referrer" browsers would call our own forms those of nobody.
    "referrer-policy": "same-origin",
    ...headers,
  };
}

export function sendPage(response: ServerResponse, page: Page): void {
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
