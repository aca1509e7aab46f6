/**
 * Sends one message to a webhook: signed, to addresses that were checked after they were resolved, without
 * redirects. Does not retry.
 */
import { createHmac } from "node:crypto";
import { lookup } from "node:dns";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isPublic, publicLookup, type Resolve } from "../../authorization/public-fetch.ts";

export interface Webhook {
  readonly url: string;
  readonly format: "json" | "slack";
  readonly secret: string | undefined;
  readonly allowPrivate: boolean;
}

export interface Message {
  readonly id: string;
  readonly event: string;
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
  /** A page of the console. Nothing is decided by opening it. */
  readonly link: string;
  readonly object: { readonly kind: string; readonly uuid?: string; readonly name: string };
}

const TIMEOUT_MS = 10_000;

/** Rejects with the reason. `now`: milliseconds since 1970. */
export async function sendWebhook(
  webhook: Webhook,
  message: Message,
  now: number,
  resolve: Resolve = lookup,
): Promise<void> {
  const url = new URL(webhook.url);
  if (!webhook.allowPrivate && !isPublic(url))
    throw new Error(`${url.host} is not a public https address: allow private addresses to send there`);
  const body = bodyOf(webhook.format, message);
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "MetaMCP",
    ...(webhook.secret === undefined
      ? {}
      : { "metamcp-signature": signature(body, webhook.secret, Math.floor(now / 1_000)) }),
  };
  const status = await post(url, {
    headers,
    body,
    ...(webhook.allowPrivate ? {} : { lookup: publicLookup(resolve) }),
  });
  if (status < 200 || status > 299) throw new Error(`${url.host} answered ${status}`);
}

/**
 * `t=SECONDS,v1=HEX`: the HMAC is over the seconds, a dot and the body, so a message cannot be kept and sent
 * again later.
 */
export function signature(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

export function bodyOf(format: Webhook["format"], message: Message): string {
  if (format === "json") return JSON.stringify({ version: 1, ...message });
  return JSON.stringify({ text: `${escaped(message.text)}\n<${message.link}|Open in MetaMCP>` });
}

/** Slack reads these three as markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly lookup?: ReturnType<typeof publicLookup>;
}

/** Returns the status. The body of the answer is not read. */
async function post(url: URL, { headers, body, lookup: resolved }: Post): Promise<number> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  return await new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: "POST",
      headers,
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(resolved && { lookup: resolved }),
    });
    outgoing.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.name === "AbortError" || error.name === "TimeoutError"
          ? new Error("no answer within 10 s")
          : error,
      ),
    );
    outgoing.once("response", (incoming) => {
      resolve(incoming.statusCode ?? 0);
      incoming.destroy();
    });
    outgoing.end(body);
  });
}
