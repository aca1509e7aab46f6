/** Splits the result of a tool into parts by type, and reads errors. */
import { bytesOf, isBase64 } from "../base64.ts";
import { kindOf, membersOf, rootSpan, type Span } from "../json/json-text.ts";

export type ResultPart =
  | { readonly kind: "text"; readonly text: string }
  /** A text that contains JSON, or the structured result. */
  | { readonly kind: "json"; readonly raw: string; readonly structured: boolean }
  | { readonly kind: "image" | "audio"; readonly url: string; readonly type: string; readonly bytes: number }
  | { readonly kind: "link"; readonly uri: string; readonly name: string; readonly about: string }
  /** Binary data that can only be saved. */
  | {
      readonly kind: "file";
      readonly url: string;
      readonly name: string;
      readonly type: string;
      readonly bytes: number;
    };

export interface ResultError {
  readonly code: string | undefined;
  readonly text: string;
  /** Whether to try the call again. */
  readonly hint: "retry" | "retryLater" | undefined;
  readonly retryAfterMs: number | undefined;
  /** Problems of the arguments, as the gateway reported them. */
  readonly problems: readonly string[];
}

export interface ReadResult {
  readonly parts: readonly ResultPart[];
  readonly error: ResultError | undefined;
}

/** `raw` is the JSON as received. Anything that is not a tool result becomes one JSON part. */
export function readResult(raw: string): ReadResult {
  const root = rootSpan(raw);
  const members = root && kindOf(raw, root) === "object" ? membersByName(raw, root) : undefined;
  const content = members?.get("content");
  const structured = members?.get("structuredContent");
  if (!members || (!structured && (!content || kindOf(raw, content) !== "array")))
    return { parts: [{ kind: "json", raw, structured: false }], error: undefined };
  const parts = content
    ? [...membersOf(raw, content)].map((one) => partOf(raw.slice(one.start, one.end)))
    : [];
  const structuredJson = structured && raw.slice(structured.start, structured.end);
  const failed = members.get("isError");
  if (failed && raw.slice(failed.start, failed.end) === "true") return failure(parts, structuredJson);
  if (structuredJson === undefined) return { parts, error: undefined };
  // Most tools repeat the structured result as text, for clients that do not support structured content.
  const others = parts.filter((part) => part.kind !== "json" || !sameJson(part.raw, structuredJson));
  return { parts: [...others, { kind: "json", raw: structuredJson, structured: true }], error: undefined };
}

function failure(parts: readonly ResultPart[], structured: string | undefined): ReadResult {
  const { error } = (structured === undefined ? {} : JSON.parse(structured)) as {
    error?: Partial<GatewayError>;
  };
  const text = parts.flatMap((part) =>
    part.kind === "text" ? [part.text] : part.kind === "json" ? [part.raw] : [],
  );
  const others = parts.filter(({ kind }) => kind !== "text" && kind !== "json");
  const gatewayError =
    typeof error === "object" && error !== null && typeof error.code === "string" ? error : undefined;
  const retryAfterMs = typeof gatewayError?.retryAfterMs === "number" ? gatewayError.retryAfterMs : undefined;
  return {
    parts:
      structured !== undefined && !gatewayError
        ? [...others, { kind: "json", raw: structured, structured: true }]
        : others,
    error: {
      code: gatewayError?.code,
      text: typeof gatewayError?.message === "string" ? gatewayError.message : text.join("\n\n"),
      hint:
        retryAfterMs !== undefined ? "retryLater" : gatewayError?.retryable === true ? "retry" : undefined,
      retryAfterMs,
      problems: problemsOf(gatewayError?.details),
    },
  };
}

/** `structuredContent.error` of the gateway. */
interface GatewayError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  readonly details: unknown;
}

function problemsOf(details: unknown): readonly string[] {
  const { problems } = (details ?? {}) as { readonly problems?: unknown };
  return Array.isArray(problems) ? problems.filter((one) => typeof one === "string") : [];
}

function membersByName(text: string, span: Span): ReadonlyMap<string, Span> {
  return new Map([...membersOf(text, span)].map((member) => [String(member.key), member]));
}

type Item = Readonly<Record<string, unknown>>;

function partOf(raw: string): ResultPart {
  const item = JSON.parse(raw) as Item;
  const type = textAt(item, "mimeType");
  const data = textAt(item, "data");
  switch (item?.["type"]) {
    case "text":
      return textPart(textAt(item, "text"));
    case "image":
    case "audio":
      return mediaPart(item["type"], type, data) ?? { kind: "json", raw, structured: false };
    case "resource_link":
      return {
        kind: "link",
        uri: textAt(item, "uri"),
        name: textAt(item, "title") || textAt(item, "name"),
        about: textAt(item, "description"),
      };
    case "resource":
      return resourcePart(item["resource"], raw);
    default:
      return { kind: "json", raw, structured: false };
  }
}

function textPart(text: string): ResultPart {
  const root = /^\s*[[{]/.test(text) ? rootSpan(text) : undefined;
  return root ? { kind: "json", raw: text, structured: false } : { kind: "text", text };
}

/** Accepts only media types of the kind and valid base64, because both become part of an address. */
function mediaPart(kind: "image" | "audio", type: string, data: string): ResultPart | undefined {
  if (!new RegExp(`^${kind}/[\\w.+-]+$`).test(type) || !isBase64(data)) return undefined;
  return { kind, type, url: `data:${type};base64,${data}`, bytes: bytesOf(data) };
}

function resourcePart(resource: unknown, raw: string): ResultPart {
  const item = (typeof resource === "object" && resource !== null ? resource : {}) as Item;
  const type = textAt(item, "mimeType");
  const blob = textAt(item, "blob");
  if (typeof item["text"] === "string") return textPart(item["text"]);
  const media = mediaPart("image", type, blob) ?? mediaPart("audio", type, blob);
  if (media) return media;
  if (blob === "" || !isBase64(blob)) return { kind: "json", raw, structured: false };
  const name = textAt(item, "uri").split(/[/?#]/).findLast(Boolean) ?? "file";
  // The file is only saved, never opened, so a neutral type is safe.
  return {
    kind: "file",
    name,
    type,
    url: `data:application/octet-stream;base64,${blob}`,
    bytes: bytesOf(blob),
  };
}

function textAt(item: Item, key: string): string {
  const value = item?.[key];
  return typeof value === "string" ? value : "";
}

function sameJson(a: string, b: string): boolean {
  return a === b || JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
}
