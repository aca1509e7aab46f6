/**
 * Turns an errno or an HTTP status of a remote child into a ChildFailure. Its texts never contain headers,
 * queries or user info.
 */
import type { IncomingMessage } from "node:http";
import { shownUrl } from "../../kernel/shown-url.ts";
import { type Category, ChildFailure } from "../link.ts";
import type { Denial } from "./authorization.ts";
import { readChallenge } from "./challenge.ts";

const OFFLINE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection: check that the server is running",
  ENOTFOUND: "has a host name that does not exist: check the URL",
  EAI_AGAIN: "has a host name that cannot be looked up: check the network",
  ETIMEDOUT: "did not answer in time",
  EHOSTUNREACH: "cannot be reached from here",
  ENETUNREACH: "cannot be reached from here",
  EHOSTDOWN: "cannot be reached from here",
  ENETDOWN: "cannot be reached: the network is down",
  EADDRNOTAVAIL: "cannot be reached from here",
  ECONNRESET: "closed the connection",
  ECONNABORTED: "closed the connection",
  EPIPE: "closed the connection",
};

/** The code of the error of a lookup that found the address of a private machine where it must not. */
export const PRIVATE_ADDRESS = "EPRIVATE";
const TOO_MANY = 429;
/** Refusals below 500 that may end by themselves: Request Timeout, Too Early, Too Many Requests. */
const PASSING: ReadonlySet<number> = new Set([408, 425, TOO_MANY]);

/** `connected`: the request was on a connected socket, so it may have been sent. */
export function networkFailure(error: Error, where: string, connected: boolean): ChildFailure {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const more = { unsent: !connected, cause: error };
  const offline = OFFLINE[code];
  if (offline)
    return new ChildFailure("offline", `${where} ${offline} (${code})`, {
      ...more,
      needsFix: code === "ENOTFOUND",
    });
  const setting = wrongSetting(code);
  if (setting) return new ChildFailure("other", `${where} ${setting}`, { ...more, needsFix: true });
  return new ChildFailure("other", `${where} could not be reached (${code || error.name})`, more);
}

function wrongSetting(code: string): string | undefined {
  if (code.startsWith("HPE_")) return "does not speak HTTP: check scheme and port";
  if (code === PRIVATE_ADDRESS)
    return "is a public name with a private address: name that address in the config, if it is meant";
  if (code === "EPROTO" || code.startsWith("ERR_SSL"))
    return "does not speak TLS: should the URL begin with http://?";
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return `has a certificate that is not trusted (${code}): for a private authority set NODE_EXTRA_CA_CERTS`;
  return undefined;
}

/** The failure of an error status. `said` is the text of the body, if it may be shown. */
export function statusFailure(response: IncomingMessage, where: string, said?: string): ChildFailure {
  const status = response.statusCode ?? 0;
  const challenge = response.headers["www-authenticate"];
  const retryAfter = response.headers["retry-after"];
  const text = [
    `${where} answered ${status}${said ? ` (${said})` : ""}`,
    advice(response),
    retryAfter && `it asks to wait: Retry-After ${retryAfter.slice(0, 40)}`,
  ];
  const limited = status === TOO_MANY ? limitOf(retryAfter) : undefined;
  const needsFix = status < 500 && !PASSING.has(status);
  return new ChildFailure(categoryOf(status), text.filter(Boolean).join("; "), {
    needsFix,
    challenge,
    limited,
  });
}

/** Reads seconds. A date is only shown in the text. */
function limitOf(retryAfter = ""): NonNullable<ChildFailure["limited"]> {
  return /^\d{1,6}$/.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {};
}

function categoryOf(status: number): Category {
  if (status === 401 || status === 403) return "auth";
  return status >= 500 ? "http" : "other";
}

/** Whether the server denied the credential; undefined for all other responses. */
export function denialOf(response: IncomingMessage): Denial | undefined {
  if (response.statusCode === 401) return { missing: undefined };
  if (response.statusCode !== 403) return undefined;
  const challenge = readChallenge(response.headers["www-authenticate"]);
  return challenge?.error === "insufficient_scope" ? { missing: challenge.scopes } : undefined;
}

/** The failure of a denied credential without a replacement. */
export function deniedFailure(response: IncomingMessage, where: string, reason: string): ChildFailure {
  const challenge = response.headers["www-authenticate"];
  const text = `${where} answered ${response.statusCode}; ${reason}`;
  return new ChildFailure("auth", text, { challenge });
}

function advice({ statusCode: status = 0, headers }: IncomingMessage): string {
  if (status === 401 || status === 403) return requiredLogin(headers["www-authenticate"]);
  if (status >= 300 && status < 400) return `it has moved${movedTo(headers.location)}: change the URL`;
  if (status === 404 || status === 405)
    return 'check the URL; a server that speaks only SSE needs `type: "sse"`';
  if (status === 400 || status === 415 || status === 406)
    return 'is this an MCP endpoint? An older server may need `type: "sse"`';
  return "";
}

function requiredLogin(header: string | undefined): string {
  const challenge = readChallenge(header);
  if (!challenge) return "it requires other credentials";
  const scopes = challenge.scopes.length > 0 ? ` for ${challenge.scopes.join(" ")}` : "";
  return `it requires login${scopes}`;
}

function movedTo(location: string | undefined): string {
  return location && URL.canParse(location) ? ` to ${shownUrl(location)}` : "";
}

/** The failure of an invalid answer. */
export function badAnswer(where: string, what: string): ChildFailure {
  return new ChildFailure("other", `${where} ${what}`);
}

/** The same failure for a request that certainly was not, or may have been, sent. */
export function withUnsent(failure: ChildFailure, unsent: boolean): ChildFailure {
  if (failure.unsent === unsent) return failure;
  const { category, message, needsFix, sessionLost, challenge, limited, cause } = failure;
  return new ChildFailure(category, message, { unsent, needsFix, sessionLost, challenge, limited, cause });
}
