/**
 * Turns the documents of an API into tools, and into a plan for the request of each. Pure; runs in a thread.
 * An operation that cannot be called as written is left out, and the reason says where.
 */
import type { Matcher } from "../../config/glob.ts";
import { compileGlob } from "../../config/glob.ts";
import { type BaseAddress, baseOf, operationBase } from "./base-address.ts";
import { DocumentFault, Documents, inside, type Json, membersOf, recordOf, textOf } from "./documents.ts";
import { inputOf } from "./input.ts";
import { type Operation, operationsOf, readOperation } from "./operation.ts";
import { outputOf } from "./output.ts";
import type { Plan } from "./plan.ts";
import type { ReadDocuments } from "./read-documents.ts";
import { toolNames } from "./tool-name.ts";

export interface CompileOptions {
  /** The address of the API from the config, if it has one. */
  readonly baseUrl: string | undefined;
  /** Patterns for names of tools, ids of operations, and `METHOD /path`. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
  /** Lower-case names of the headers that the config sets. */
  readonly fixed: readonly string[];
}

/** Where a key of the config is sent, if not as a header. */
export interface KeyPlace {
  readonly name: string;
  readonly in: "query" | "cookie";
}

export interface Compiled {
  readonly title: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly base: BaseAddress;
  readonly keys: readonly KeyPlace[];
  /** Each is one page of the list: a JSON array of tools. */
  readonly pages: readonly string[];
  /** The plan of each tool as JSON, by its name. */
  readonly plans: readonly (readonly [name: string, plan: string])[];
  /** Why operations were left out. */
  readonly leftOut: readonly string[];
}

const PAGE_LENGTH = 256 * 1024;
const MAX_OPERATIONS = 20_000;
/** With more, each further tool has no output schema, and its input is open. */
const MAX_LENGTH = 64 * 1024 * 1024;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 2_000;
const MAX_INSTRUCTIONS = 600;
const MAX_REASONS = 100;

export function compile({ values, refused }: ReadDocuments, options: CompileOptions): Compiled {
  const documents = new Documents(values, refused);
  checkVersion(documents);
  const leftOut: string[] = [];
  const leave = (fault: unknown): void => {
    if (!(fault instanceof DocumentFault)) throw fault;
    if (leftOut.length < MAX_REASONS) leftOut.push(fault.message);
  };
  const root = recordOf(documents.root);
  const info = recordOf(inside(documents.root, "info"));
  const base = baseOf(documents.root, options.baseUrl);
  const keys = keysIn(documents);
  const tools = new ToolList(documents, base, options);
  for (const [operation, name] of chosenOperations(documents, options, leave)) {
    try {
      tools.add(operation, name);
    } catch (fault) {
      leave(fault);
    }
  }
  if (tools.plans.size === 0 && leftOut[0] !== undefined) throw new NothingUsable(leftOut[0], documents.root);
  const { summary, description } = info;
  return {
    title: clipped(textOf(info["title"]), MAX_TITLE) ?? "API",
    version: clipped(textOf(info["version"]), 64) ?? String(root["openapi"] ?? root["swagger"]),
    instructions: clipped(textOf(summary) ?? firstParagraph(textOf(description)), MAX_INSTRUCTIONS),
    base,
    keys,
    pages: tools.pages(),
    plans: [...tools.plans],
    leftOut,
  };
}

/** It names the place of the first problem. */
class NothingUsable extends DocumentFault {
  constructor(first: string, root: Documents["root"]) {
    super("", root);
    this.message = `none of its operations can be used; the first problem: ${first}`;
  }
}

function checkVersion({ root }: Documents): void {
  const { openapi, swagger, asyncapi } = recordOf(root);
  const version = typeof openapi === "string" ? openapi : String(swagger);
  if (typeof openapi === "string" ? /^3\.[0-2](?:\.|$)/.test(version) : /^2(?:\.|$)/.test(version)) return;
  const found =
    openapi === undefined && swagger === undefined
      ? asyncapi === undefined
        ? 'it has neither "openapi" nor "swagger"'
        : "it is an AsyncAPI document"
      : `its version is ${version.slice(0, 20)}`;
  throw new DocumentFault(`${found}: OpenAPI 3.0, 3.1 and 3.2 and Swagger 2.0 can be read`, root);
}

function chosenOperations(
  documents: Documents,
  { allow, deny }: CompileOptions,
  leave: (fault: unknown) => void,
): readonly (readonly [Operation, string])[] {
  const all: Operation[] = [];
  for (const at of operationsOf(documents, leave)) {
    if (all.length === MAX_OPERATIONS)
      throw new DocumentFault(
        `it has more than ${MAX_OPERATIONS} operations: choose some with "operations"`,
        at.at,
      );
    try {
      all.push(readOperation(documents, at));
    } catch (fault) {
      leave(fault);
    }
  }
  const names = toolNames(all);
  const [allowed, denied] = [allow?.map(compileGlob), deny.map(compileGlob)];
  return all.flatMap((operation, index) => {
    const own = textOf(operation.mcp?.["name"]);
    const name = own ?? (names[index] as string);
    const called = [name, operation.id ?? name, `${operation.method} ${operation.path}`];
    const matches = (rules: readonly Matcher[]): boolean => rules.some((rule) => called.some(rule));
    return (allowed && !matches(allowed)) || matches(denied) ? [] : [[operation, name] as const];
  });
}

/** Keys that are sent in the query or in a cookie, of all security schemes. */
function keysIn(documents: Documents): readonly KeyPlace[] {
  const { root } = documents;
  const components = inside(root, "components");
  const schemes = components ? inside(components, "securitySchemes") : inside(root, "securityDefinitions");
  return membersOf(schemes).flatMap(([, written]) => {
    try {
      const { type, name, in: place } = recordOf(documents.follow(written));
      const isKey =
        type === "apiKey" && typeof name === "string" && (place === "query" || place === "cookie");
      return isKey ? [{ name, in: place }] : [];
    } catch {
      return [];
    }
  });
}

class ToolList {
  readonly plans = new Map<string, string>();
  readonly #documents: Documents;
  readonly #base: BaseAddress;
  readonly #fixed: ReadonlySet<string>;
  readonly #pages: string[][] = [[]];
  #length = 0;
  #total = 0;

  constructor(documents: Documents, base: BaseAddress, { fixed }: CompileOptions) {
    this.#documents = documents;
    this.#base = base;
    this.#fixed = new Set(fixed);
  }

  add(operation: Operation, name: string): void {
    if (this.plans.has(name))
      throw new DocumentFault(`another operation is called "${name}" too`, operation.at);
    const base = operationBase(operation, this.#base);
    const input = inputOf(this.#documents, operation, this.#fixed);
    const output = outputOf(this.#documents, operation);
    const { method, path } = operation;
    const { parameters, body } = input;
    const { answer, accept } = output;
    checkPath(
      operation,
      parameters.filter((one) => one.in === "path").map((one) => one.name),
    );
    const plan: Plan = { method, base, path, parameters, ...(body && { body }), accept, answer };
    const isFull = this.#total > MAX_LENGTH;
    this.#push(
      JSON.stringify({
        name,
        ...textsOf(operation),
        inputSchema: isFull ? { type: "object" } : input.schema,
        ...(output.schema && !isFull && { outputSchema: output.schema }),
        ...annotationsOf(operation),
      }),
    );
    this.plans.set(name, JSON.stringify(plan));
  }

  pages(): readonly string[] {
    return this.#pages.map((tools) => `[${tools.join(",")}]`);
  }

  #push(tool: string): void {
    if (this.#length + tool.length > PAGE_LENGTH && this.#length > 0) {
      this.#pages.push([]);
      this.#length = 0;
    }
    this.#pages.at(-1)?.push(tool);
    this.#length += tool.length;
    this.#total += tool.length;
  }
}

function checkPath({ path, at }: Operation, known: readonly string[]): void {
  for (const [, name = ""] of path.matchAll(/\{([^}]*)\}/g))
    if (!known.includes(name))
      throw new DocumentFault(`the parameter "${name}" of the path is not described`, at);
}

function textsOf({ summary, description, deprecated, method, path, mcp }: Operation): Json {
  if (mcp) return { ...(summary !== undefined && { title: summary }), description: description ?? "" };
  // Models see descriptions, and not every client shows them titles.
  const whole = description?.startsWith(summary ?? "")
    ? description
    : [summary, description].filter(Boolean).join("\n\n");
  const text = clipped(whole, MAX_DESCRIPTION) || `${method} ${path}`;
  const title = clipped(summary, MAX_TITLE);
  return { ...(title !== undefined && { title }), description: deprecated ? `Deprecated. ${text}` : text };
}

/** What HTTP says about its methods. */
function annotationsOf({ method, mcp }: Operation): Json {
  if (mcp) return mcp["annotations"] === undefined ? {} : { annotations: mcp["annotations"] };
  const readOnlyHint = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].includes(method);
  const idempotentHint = readOnlyHint || method === "PUT" || method === "DELETE";
  return { annotations: { readOnlyHint, ...(!readOnlyHint && { idempotentHint }), openWorldHint: true } };
}

function firstParagraph(text: string | undefined): string | undefined {
  return text?.trim().split(/\n\s*\n/, 1)[0];
}

function clipped(text: string | undefined, maxLength: number): string | undefined {
  if (text === undefined || text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1)}…`;
}
