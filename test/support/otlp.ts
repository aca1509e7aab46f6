/**
 * Checks OTLP requests against the published definitions in JSON form, and an OTLP collector whose answers a
 * test decides.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./shared.ts";
import { ROOT } from "./temp.ts";

interface Definitions {
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly enums: Readonly<Record<string, readonly number[]>>;
  readonly oneOf: readonly string[];
}

const DEFINITIONS = JSON.parse(readFileSync(`${ROOT}/test/data/otlp/traces.json`, "utf8")) as Definitions;

/** The deviations from the definitions, each with its path. */
export function otlpProblems(value: unknown, type = "ExportTraceServiceRequest", at = ""): readonly string[] {
  const [kind = "", of = ""] = type.split(" ");
  if (kind === "repeated") {
    if (!Array.isArray(value)) return [`${at} is no list`];
    return value.flatMap((one, n) => otlpProblems(one, of, `${at}/${n}`));
  }
  const message = DEFINITIONS.messages[kind];
  if (!message) return isScalar(value, kind, of) ? [] : [`${at} is ${JSON.stringify(value)}, not ${type}`];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at} is no ${kind}`];
  const known = new Map(Object.entries(message).map(([name, field]) => [camel(name), field]));
  const one = DEFINITIONS.oneOf.includes(kind) && Object.keys(value).length !== 1;
  return [
    ...(one ? [`${at} must have one member`] : []),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const field = known.get(name);
      return field ? otlpProblems(inner, field, `${at}/${name}`) : [`${at}/${name} is not known`];
    }),
  ];
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** OTLP over HTTP in JSON: ids are hex, 64-bit numbers are strings of digits, enums are numbers. */
function isScalar(value: unknown, kind: string, of: string): boolean {
  switch (kind) {
    case "string":
      return typeof value === "string";
    case "bool":
      return typeof value === "boolean";
    case "double":
      return typeof value === "number";
    case "uint32":
    case "fixed32":
      return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
    case "int64":
    case "fixed64":
      return typeof value === "string" && /^-?\d{1,19}$/.test(value);
    case "id":
      return (
        typeof value === "string" &&
        new RegExp(`^[0-9a-f]{${Number(of) * 2}}$`).test(value) &&
        /[^0]/.test(value)
      );
    case "enum":
      return DEFINITIONS.enums[of]?.includes(value as number) ?? false;
    default:
      return false;
  }
}

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  /** Only on failed spans. */
  readonly status?: { readonly code?: number };
  /** Attributes by name. */
  readonly about: Readonly<Record<string, string>>;
}

type CollectorAnswer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Collector {
  readonly url: string;
  /** Request bodies, in order. */
  readonly requests: unknown[];
  readonly headers: IncomingMessage["headers"][];
  readonly spans: readonly SentSpan[];
  /** Answers the next requests. Default: accepts everything. */
  answer: CollectorAnswer;
}

const ACCEPT: CollectorAnswer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
};

export async function collector(): Promise<Collector> {
  const requests: unknown[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end();
      requests.push(JSON.parse(text));
      headers.push(request.headers);
      return created.answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => server.close().closeAllConnections());
  const created: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    get spans() {
      return requests.flatMap(spansIn);
    },
    answer: ACCEPT,
  };
  return created;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
function spansIn(request: any): readonly SentSpan[] {
  const { spans } = request.resourceSpans[0].scopeSpans[0];
  return spans.map(({ attributes, ...span }: SentSpan & { attributes: readonly Attribute[] }) => ({
    ...span,
    about: Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue])),
  }));
}
