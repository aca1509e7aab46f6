/**
 * Turns the response of an API into the result of a tool, or into the failure that it means for the server.
 * Pure.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../../kernel/is-record.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import type { Mask } from "../../kernel/secret.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import { ChildFailure } from "../link.ts";
import type { Plan } from "./plan.ts";

export interface Response {
  readonly status: number;
  /** The text of the status. */
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Asked {
  readonly plan: Plan;
  /** Method and address, without the query. */
  readonly where: string;
  /** The address, without the query. */
  readonly uri: string;
  /** Removes secrets from what the API says about a request, because it may repeat it. */
  readonly mask: Mask;
  readonly now: number;
}

const RECORD_SEPARATOR = "\u001e";
const MAX_SAID = 500;
const MAX_ERROR_TEXT = 20_000;

export function readAnswer(response: Response, asked: Asked): Raw | ChildFailure {
  const { status } = response;
  if (status >= 200 && status < 300) return success(response, asked);
  if (asked.plan.answer === "tool" && status === 422) return toolError(response, asked);
  if (status === 401 || status === 403 || status === 429 || status >= 500) return failureOf(response, asked);
  return errorResult(response, asked);
}

function success(response: Response, { plan, uri }: Asked): Raw {
  const { body, headers } = response;
  const type = mediaType(headers);
  if (body.length === 0) {
    const empty = plan.answer === "object" || plan.answer === "wrapped" ? { structuredContent: {} } : {};
    return toRaw({ content: [text(statusText(response))], ...empty });
  }
  const value = isJson(type) || plan.answer !== "text" ? parsed(body, type) : undefined;
  if (plan.answer === "tool" && isRecord(value?.json)) return toolResult(value.json);
  if (value !== undefined && (plan.answer === "object" || plan.answer === "wrapped")) {
    const structuredContent =
      plan.answer === "object" && isRecord(value.json) ? value.json : { result: value.json };
    return toRaw({ content: [text(value.text)], structuredContent });
  }
  const structured = plan.answer === "text" || plan.answer === "tool" ? {} : { structuredContent: {} };
  return toRaw({ content: [contentOf(body, type, headers, uri)], ...structured });
}

interface Parsed {
  readonly json: unknown;
  readonly text: string;
}

function parsed(body: Buffer, type: string): Parsed | undefined {
  const written = body.toString();
  if (/ndjson|jsonl|json-seq/.test(type)) {
    const lines = written
      .replaceAll(RECORD_SEPARATOR, "\n")
      .split("\n")
      .filter((line) => line.trim() !== "");
    const values = lines.map(jsonOf);
    return values.includes(undefined) ? undefined : { json: values, text: JSON.stringify(values) };
  }
  const json = jsonOf(written);
  return json === undefined ? undefined : { json, text: written };
}

function jsonOf(written: string): unknown {
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return undefined;
  }
}

/** MetaMCP answers for a tool with its structured content, or with its content. */
function toolResult(json: Readonly<Record<string, unknown>>): Raw {
  const { content } = json;
  if (Array.isArray(content) && Object.keys(json).length === 1) return toRaw({ content });
  return toRaw({ content: [text(JSON.stringify(json))], structuredContent: json });
}

function toolError(response: Response, asked: Asked): Raw {
  const problem = jsonOf(response.body.toString());
  if (!isRecord(problem) || !Array.isArray(problem["content"])) return errorResult(response, asked);
  const { content, structuredContent } = problem;
  return toRaw({ content, ...(structuredContent !== undefined && { structuredContent }), isError: true });
}

function contentOf(body: Buffer, type: string, headers: IncomingHttpHeaders, uri: string): object {
  if (isText(type) || (type === "" && isUtf8(body))) return text(decoded(body, headers));
  const data = body.toString("base64");
  if (type.startsWith("image/") && type !== "image/svg+xml") return { type: "image", data, mimeType: type };
  if (type.startsWith("audio/")) return { type: "audio", data, mimeType: type };
  const mimeType = type || "application/octet-stream";
  return { type: "resource", resource: { uri, mimeType, blob: data } };
}

function text(value: string): object {
  return { type: "text", text: value };
}

/** For an answer without a body: a place where the result is, if the API names one. */
function statusText({ status, reason, headers: { location } }: Response): string {
  return `${status} ${reason}${location === undefined ? "" : `, Location: ${location}`}`.trim();
}

function errorResult(response: Response, { where, mask }: Asked): Raw {
  const { status, headers } = response;
  const moved = status >= 300 && status < 400 && headers.location !== undefined;
  const said = moved ? redirected(headers.location as string) : saidIn(response, MAX_ERROR_TEXT);
  const lines = [`${where}: ${statusText({ ...response, headers: {} })}`, said];
  return toRaw({ content: [text(mask(lines.filter(Boolean).join("\n")))], isError: true });
}

function redirected(location: string): string {
  const place = URL.canParse(location) ? ` to ${shownUrl(location)}` : "";
  return `The API redirects${place}. Redirects to another host are not followed, and others a few times.`;
}

function failureOf(response: Response, { where, mask, now }: Asked): ChildFailure {
  const { status, headers } = response;
  const said = mask(saidIn(response, MAX_SAID).replaceAll(/\s+/g, " ").trim());
  const message = `${where} answered ${status}${said === "" ? "" : ` (${said})`}`;
  const retryAfterMs = retryAfterOf(headers, now);
  const wait = retryAfterMs === undefined ? "" : `; it asks to wait ${Math.ceil(retryAfterMs / 1_000)} s`;
  const spent = headers["x-ratelimit-remaining"] === "0" && headers["retry-after"] !== undefined;
  // Some APIs, GitHub among them, refuse with 403 whoever asks too often.
  if (status === 429 || (status === 403 && spent))
    return new ChildFailure("other", message + wait, {
      limited: retryAfterMs === undefined ? {} : { retryAfterMs },
    });
  if (status >= 500) return new ChildFailure("http", message + wait);
  const challenge = headers["www-authenticate"];
  return new ChildFailure("auth", message, challenge === undefined ? {} : { challenge });
}

/** In seconds or as a date. */
export function retryAfterOf(headers: IncomingHttpHeaders, now: number): number | undefined {
  const written = headers["retry-after"]?.trim();
  if (written === undefined) return undefined;
  if (/^\d{1,6}$/.test(written)) return Number(written) * 1_000;
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function saidIn({ body, headers }: Response, maxLength: number): string {
  const type = mediaType(headers);
  if (body.length === 0 || !(isText(type) || (type === "" && isUtf8(body)))) return "";
  const all = decoded(body, headers);
  // An error page is for people with a browser.
  if (type === "text/html") return "";
  return all.length > maxLength ? `${all.slice(0, maxLength - 1)}…` : all;
}

function mediaType(headers: IncomingHttpHeaders): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function isJson(type: string): boolean {
  return /[/+](?:json|ndjson|x-ndjson|jsonl|jsonlines|json-seq)$/.test(type);
}

function isText(type: string): boolean {
  return (
    type.startsWith("text/") ||
    isJson(type) ||
    /[/+](?:xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|toml)$/.test(type)
  );
}

function decoded(body: Buffer, headers: IncomingHttpHeaders): string {
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(headers["content-type"] ?? "") ?? [];
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return body.toString();
  }
}

function isUtf8(body: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body);
    return !body.includes(0);
  } catch {
    return false;
  }
}
