/** Writes the body of a request: JSON, a form, a form with files, text or bytes. */
import { randomUUID } from "node:crypto";
import { isRecord } from "../../kernel/is-record.ts";
import { fileOf } from "./file-argument.ts";
import { isMediaType } from "./input.ts";
import { InvalidArgument } from "./invalid-argument.ts";
import type { Encoding } from "./operation.ts";
import type { BodyPlan } from "./plan.ts";
import { encoded, queryPairs, scalar } from "./serialize.ts";
import type { Serialization } from "./style.ts";

export interface WrittenBody {
  readonly type: string;
  readonly bytes: readonly Buffer[];
}

export function writeBody(
  { kind, type, argument = "the body", encoding }: BodyPlan,
  value: unknown,
): WrittenBody {
  switch (kind) {
    case "json":
      return { type, bytes: [Buffer.from(JSON.stringify(value))] };
    case "form":
      return { type, bytes: [Buffer.from(formText(recordIn(value, argument), encoding))] };
    case "multipart":
      return multipart(recordIn(value, argument), encoding);
    case "text":
      return { type, bytes: [Buffer.from(typeof value === "string" ? value : JSON.stringify(value))] };
    case "binary":
      return binary(value, type, argument);
  }
}

function recordIn(value: unknown, argument: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new InvalidArgument(argument, "must be an object");
}

const FORM: Serialization = { style: "form", explode: true, allowReserved: false };

function formText(values: Readonly<Record<string, unknown>>, encoding: BodyPlan["encoding"]): string {
  const pairs = Object.entries(values).flatMap(([name, value]) => {
    const own = ownOf(encoding, name);
    // Members that are objects have no usual form; most APIs take brackets, or JSON where they say so.
    if (isJson(own.contentType)) return [[encoded(name), encoded(JSON.stringify(value))] as const];
    const style = own.style ?? (isRecord(value) ? "deepObject" : "form");
    return queryPairs(name, value, { ...FORM, ...own, style });
  });
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

function multipart(values: Readonly<Record<string, unknown>>, encoding: BodyPlan["encoding"]): WrittenBody {
  const boundary = `metamcp-${randomUUID()}`;
  const bytes: Buffer[] = [];
  for (const [name, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const { head, content } = part(name, one, ownOf(encoding, name));
      bytes.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), content, Buffer.from("\r\n"));
    }
  bytes.push(Buffer.from(`--${boundary}--\r\n`));
  return { type: `multipart/form-data; boundary=${boundary}`, bytes };
}

function part(
  name: string,
  value: unknown,
  { contentType }: Encoding,
): { readonly head: string; readonly content: Buffer } {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`;
  const declared = contentType?.split(",")[0]?.trim() ?? "";
  const wanted = isMediaType(declared) && !declared.includes("*") ? declared : undefined;
  const isFile = isRecord(value) && ("base64" in value || "text" in value);
  const file = isFile ? fileOf(value) : undefined;
  if (file) {
    const own = file.type !== undefined && isMediaType(file.type) ? file.type : undefined;
    const type = own ?? wanted ?? "application/octet-stream";
    const head = `${disposition}; filename="${quoted(file.name ?? name)}"\r\nContent-Type: ${type}`;
    return { head, content: file.bytes };
  }
  if (typeof value === "object" && value !== null)
    return {
      head: `${disposition}\r\nContent-Type: application/json`,
      content: Buffer.from(JSON.stringify(value)),
    };
  const head = wanted === undefined ? disposition : `${disposition}\r\nContent-Type: ${wanted}`;
  return { head, content: Buffer.from(scalar(value)) };
}

/** As browsers write names in a form: a quote or a line break would end the header. */
function quoted(name: string): string {
  return Buffer.from(name)
    .toString()
    .replaceAll(/[\r\n"]/g, encodeURIComponent)
    .replaceAll(/\p{Cc}/gu, "_");
}

function binary(value: unknown, type: string, argument: string): WrittenBody {
  const file = fileOf(value);
  if (!file) throw new InvalidArgument(argument, 'must be { "text": … } or { "base64": … }');
  const own = file.type !== undefined && isMediaType(file.type) ? file.type : undefined;
  return { type: own ?? type, bytes: [file.bytes] };
}

function ownOf(encoding: BodyPlan["encoding"], name: string): Encoding {
  return Object.hasOwn(encoding, name) ? (encoding[name] as Encoding) : {};
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /[/+]json\b/i.test(type);
}
