/**
 * Makes the HTTP request of a call from its arguments. Pure. No argument can lead it to another host or
 * another operation, or add a header.
 */
import type { OutgoingHttpHeaders } from "node:http";
import { type WrittenBody, writeBody } from "./body.ts";
import { InvalidArgument } from "./invalid-argument.ts";
import type { ParameterPlan, Plan } from "./plan.ts";
import { encoded, headerText, pathText, queryPairs } from "./serialize.ts";

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: WrittenBody | undefined;
}

export interface Credentials {
  readonly query: readonly (readonly [name: string, value: string])[];
  /** `name=value` pairs. */
  readonly cookies: readonly string[];
}

type Arguments = Readonly<Record<string, unknown>>;

export function requestOf(plan: Plan, args: Arguments, credentials: Credentials): ApiRequest {
  const given = plan.parameters.flatMap((parameter) => {
    const value = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined;
    if (value !== undefined) return [{ parameter, value }];
    if (parameter.required) throw new InvalidArgument(parameter.argument, "is missing");
    return [];
  });
  const of = (place: ParameterPlan["in"]): typeof given =>
    given.filter(({ parameter }) => parameter.in === place);
  const body = bodyOf(plan, args);
  const cookies = of("cookie").flatMap(({ parameter, value }) =>
    queryPairs(parameter.name, value, { ...parameter, allowReserved: false }).map(
      ([name, text]) => `${name}=${text}`,
    ),
  );
  const cookie = [...credentials.cookies, ...cookies].join("; ");
  const headers = of("header").map(({ parameter, value }) => [
    parameter.name.toLowerCase(),
    headerOf(parameter, value),
  ]);
  return {
    method: plan.method,
    url: urlOf(plan, of("path"), of("query"), credentials),
    headers: {
      ...Object.fromEntries(headers),
      accept: plan.accept,
      ...(cookie !== "" && { cookie }),
      ...(body && { "content-type": body.type }),
    },
    body,
  };
}

type Given = readonly { readonly parameter: ParameterPlan; readonly value: unknown }[];

function urlOf({ base, path }: Plan, inPath: Given, inQuery: Given, credentials: Credentials): URL {
  let filled = path;
  for (const { parameter, value } of inPath) {
    const text = pathText(parameter.name, value, parameter);
    if (text === "")
      throw new InvalidArgument(parameter.argument, "is empty, and would call another operation");
    if (changesPath(text))
      throw new InvalidArgument(parameter.argument, 'contains "." or ".." as a part of a path');
    filled = filled.replaceAll(`{${parameter.name}}`, () => text);
  }
  const start = new URL(base);
  const whole = start.pathname.replace(/\/$/, "") + filled;
  const [pathname, written = ""] = splitAt(whole, "?");
  const url = new URL(start);
  url.pathname = pathname.replaceAll("#", "%23");
  // A path such as "/a/../../b" is of the document. It must stay below the address of the API too.
  if (url.origin !== start.origin || !url.pathname.startsWith(`${start.pathname.replace(/\/$/, "")}/`))
    throw new InvalidArgument("the path", "leads out of the address of the API");
  const pairs = [
    ...inQuery.flatMap(({ parameter, value }) => queryPairs(parameter.name, value, parameter)),
    ...credentials.query.map(([name, value]) => [encoded(name), encoded(value)] as const),
  ].map(([name, value]) => `${name}=${value}`);
  url.search = [start.search.slice(1), written, ...pairs].filter(Boolean).join("&");
  url.hash = "";
  return url;
}

function splitAt(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Whether a part of a path is "." or ".." for any reader: some decode an encoded slash, and some decode
 * twice.
 */
function changesPath(text: string): boolean {
  let plain = text;
  for (let times = 0; times < 4; times++) {
    if (plain.split(/[/\\]/).some((part) => /^\.{1,2}(?:;.*)?$/.test(part))) return true;
    const next = plain.replaceAll(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === plain) return false;
    plain = next;
  }
  return false;
}

function headerOf(parameter: ParameterPlan, value: unknown): string {
  const text = headerText(value, parameter);
  // Beyond Latin-1 a header has no defined meaning.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new InvalidArgument(parameter.argument, "contains a character that a header cannot contain");
}

function bodyOf({ body, parameters }: Plan, args: Arguments): WrittenBody | undefined {
  if (!body) return undefined;
  if (body.argument !== undefined) {
    const value = Object.hasOwn(args, body.argument) ? args[body.argument] : undefined;
    if (value !== undefined) return writeBody(body, value);
    if (body.required) throw new InvalidArgument(body.argument, "is missing");
    return undefined;
  }
  const taken = new Set(parameters.map(({ argument }) => argument));
  const members = Object.entries(args).filter(([name]) => !taken.has(name));
  if (members.length === 0 && !body.required) return undefined;
  return writeBody(body, Object.fromEntries(members));
}
