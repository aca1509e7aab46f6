/**
 * Checks that every answer of the admin API is what its OpenAPI description says. All clients of tests send
 * their requests with `adminFetch`.
 */
import Ajv, { type ValidateFunction } from "ajv/dist/2020.js";
import { addRoute, createRouter, findRoute } from "rou3";
import { describeRoutes } from "../../src/admin/openapi.ts";
import { adminRoutes } from "../../src/admin/routes/all.ts";

const BASE = "/api/v1";
const PROBLEM = "application/problem+json";

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
}

// The routes are only described, so their dependencies can be empty.
const description = describeRoutes(adminRoutes({} as never), BASE) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const ajv = new Ajv.default({
  strict: false,
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  },
});
ajv.addSchema({ $id: "api", ...description });

const router = createRouter<string>();
for (const path of Object.keys(description.paths))
  addRoute(router, "", path.replaceAll(/\{(\w+)\}/g, ":$1"), path);

export interface SentAnswer {
  readonly method: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly status: number;
  /** Of the content, without parameters; empty if there is none. */
  readonly type: string;
}

/** Why the answer is not as described. Undefined if it is, and for a path that has no description. */
export function undescribed(answer: SentAnswer, text: string): string | undefined {
  const { method, path, status, type } = answer;
  const route = findRoute(router, "", path)?.data;
  const operation = route === undefined ? undefined : description.paths[route]?.[method.toLowerCase()];
  // An unknown path or method.
  if (route === undefined || !operation) return type === PROBLEM ? undefined : `${type} is not a problem`;
  const known = status in operation.responses || status < 400 ? status : "default";
  const described = operation.responses[known];
  if (!described) return `the status ${status} is not described`;
  if (!described.content) return text === "" ? undefined : "there should be no content";
  if (!(type in described.content)) return `the content type "${type}" is not described`;
  const at = ["paths", route, method.toLowerCase(), "responses", known, "content", type, "schema"];
  const validate = ajv.getSchema(`api#/${at.map(pointer).join("/")}`) as ValidateFunction;
  for (const value of valuesIn(text, type))
    if (!validate(value)) return `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
  return undefined;
}

function pointer(part: string | number): string {
  return encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** The JSON values of an answer. Other texts have no schema. */
function valuesIn(text: string, type: string): readonly unknown[] {
  if (/[/+]json$/.test(type)) return [JSON.parse(text)];
  const lines = text.split("\n");
  if (type === "application/x-ndjson")
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  if (type !== "text/event-stream") return [];
  return lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
}

/** Like `fetch`. Rejects if an answer of the admin API is not as described. */
export async function adminFetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const { method = "GET" } = init;
  const response = await fetch(address, init);
  const { pathname } = new URL(address);
  if (!pathname.startsWith(`${BASE}/`)) return response;
  const { status, headers } = response;
  const type = headers.get("content-type")?.split(";", 1)[0] ?? "";
  const answer = { method, path: pathname.slice(BASE.length), status, type };
  if (type === "text/event-stream" && response.body)
    return new Response(response.body.pipeThrough(checkedEvents(answer)), { status, headers });
  const text = await response.text();
  refuse(answer, text);
  return new Response(text === "" ? null : text, { status, headers });
}

function refuse(answer: SentAnswer, text: string): void {
  const why = undescribed(answer, text);
  if (why === undefined) return;
  throw new Error(`${answer.method} ${answer.path} answered ${answer.status}: ${why}`);
}

/**
 * Checks each event when it is complete. Nobody may be reading, so a wrong event fails the test as an
 * uncaught error.
 */
function checkedEvents(answer: SentAnswer): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      queueMicrotask(() => refuse(answer, events.join("\n")));
    },
  });
}
