/** One schema for the parameters and the body of an operation, and how its arguments are sent. Pure. */
import { isRecord } from "../../kernel/is-record.ts";
import { type Documents, inside, type Json, type Located, recordOf } from "./documents.ts";
import { fileSchema } from "./file-argument.ts";
import type { Body, MediaType, Operation, Parameter } from "./operation.ts";
import type { BodyKind, BodyPlan, ParameterPlan } from "./plan.ts";
import { SchemaWriter } from "./schema-writer.ts";
import { PLACES } from "./style.ts";

export interface Input {
  readonly schema: Json;
  readonly parameters: readonly ParameterPlan[];
  readonly body?: BodyPlan;
}

const MAX_LENGTH = 24_000;
const MAX_NAME = 64;
const BODY = "body";
/** Set by MetaMCP, or they would change how the request is understood. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|content-.*|authorization|cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|forwarded|proxy-.*|x-forwarded-.*|http2-settings|via)$/i;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Rules for several members together, and members without names: such a body stays one argument. */
const WHOLE = ["allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "$ref", "dependentSchemas"];

/** `fixed`: lower-case names of headers and keys that the config sets. */
export function inputOf(documents: Documents, operation: Operation, fixed: ReadonlySet<string>): Input {
  const sent = operation.parameters.filter((one) => isSent(one, fixed));
  const body = operation.body && chosenBody(operation.body);
  const exact = operation.mcp !== undefined;
  const writer = new SchemaWriter(documents, {
    for: exact ? "exact" : "input",
    maxLength: exact ? Number.POSITIVE_INFINITY : MAX_LENGTH,
    files: body?.kind === "multipart",
  });
  const named = argumentNames(sent);
  const parameters = named.map(([argument, one]) => planOf(argument, one));
  const properties = named.map(([argument, one]) => [
    argument,
    described(writer.part(one.schema), one.description),
  ]);
  const required = named.filter(([, one]) => one.required).map(([argument]) => argument);
  if (!body) return { schema: finished(writer, Object.fromEntries(properties), required, false), parameters };

  const plan: BodyPlan = {
    kind: body.kind,
    type: body.media.type,
    required: operation.body?.required === true,
    encoding: body.media.encoding,
  };
  const members = body.media.schema && membersOfBody(documents, body, named);
  if (members && (exact || named.length === 0)) {
    const { $defs: _, ...root } = writer.root(members);
    return { schema: { ...root, type: "object", ...writer.defs() }, parameters, body: plan };
  }
  if (members) {
    const { properties: own, required: needed, additionalProperties } = writer.root(members);
    const all = { ...Object.fromEntries(properties), ...(isRecord(own) ? own : {}) };
    const must = plan.required && Array.isArray(needed) ? (needed as string[]) : [];
    return {
      schema: finished(writer, all, [...required, ...must], additionalProperties),
      parameters,
      body: plan,
    };
  }
  const argument = freeName(BODY, new Set(named.map(([name]) => name)));
  const schema = described(bodySchema(writer, body), operation.body?.description);
  const all = { ...Object.fromEntries(properties), [argument]: schema };
  const must = plan.required ? [...required, argument] : required;
  return { schema: finished(writer, all, must, false), parameters, body: { ...plan, argument } };
}

function finished(
  writer: SchemaWriter,
  properties: Json,
  required: readonly string[],
  additionalProperties: unknown,
): Json {
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...(additionalProperties !== undefined && { additionalProperties }),
    ...writer.defs(),
  };
}

function described(schema: unknown, description: string | undefined): unknown {
  if (description === undefined || !isRecord(schema)) return schema;
  return {
    ...schema,
    description: description.length > 1_000 ? `${description.slice(0, 999)}…` : description,
  };
}

function isSent({ in: place, name }: Parameter, fixed: ReadonlySet<string>): boolean {
  if (place === "path") return true;
  if (fixed.has(name.toLowerCase())) return false;
  if (place === "query") return true;
  return TOKEN.test(name) && (place === "cookie" || !OWN_HEADERS.test(name));
}

/** The argument of each parameter. The same name in another place gets that place as a suffix. */
function argumentNames(parameters: readonly Parameter[]): readonly (readonly [string, Parameter])[] {
  const taken = new Set<string>();
  return PLACES.flatMap((place) => parameters.filter((one) => one.in === place)).map((one) => {
    const plain = one.name.replaceAll(/[^\w.-]+/g, "_").replaceAll(/^_+|_+$/g, "") || one.in;
    const short = plain.slice(0, MAX_NAME - 8);
    const argument = freeName(taken.has(short) ? `${short}_${one.in}` : short, taken);
    taken.add(argument);
    return [argument, one] as const;
  });
}

function freeName(preferred: string, taken: ReadonlySet<string>): string {
  let name = preferred;
  for (let n = 2; taken.has(name); n++) name = `${preferred}_${n}`;
  return name;
}

function planOf(argument: string, one: Parameter): ParameterPlan {
  const { name, style, explode, allowReserved, content, required } = one;
  const more = content === undefined ? {} : { content };
  return { argument, name, in: one.in, required, style, explode, allowReserved, ...more };
}

interface ChosenBody {
  readonly kind: BodyKind;
  readonly media: MediaType;
}

const KINDS: readonly (readonly [BodyKind, RegExp])[] = [
  ["json", /^application\/json\b|[/+]json\b/i],
  ["form", /^application\/x-www-form-urlencoded\b/i],
  ["multipart", /^multipart\//i],
  ["text", /^text\/|[/+](?:xml|yaml|graphql|javascript)\b/i],
];

/** JSON if the API takes it, else the first kind that can be written. */
function chosenBody({ media }: Body): ChosenBody {
  for (const [kind, pattern] of KINDS) {
    const found = media.find(({ type }) => pattern.test(type) && isMediaType(type));
    if (found)
      return { kind, media: kind === "multipart" ? { ...found, type: "multipart/form-data" } : found };
  }
  const [first] = media as [MediaType];
  const type = isMediaType(first.type) && !first.type.includes("*") ? first.type : "application/octet-stream";
  return { kind: "binary", media: { ...first, type } };
}

export function isMediaType(type: string): boolean {
  return (
    type.length <= 200 && /^[\w.+*-]+\/[\w.+*-]+(?:\s*;\s*[\w-]+=(?:[\w.+-]+|"[\w.+ /:-]*"))*$/.test(type)
  );
}

/** The schema of a body whose members can be arguments. */
function membersOfBody(
  documents: Documents,
  { kind, media }: ChosenBody,
  parameters: readonly (readonly [string, Parameter])[],
): Located | undefined {
  if (!media.schema || kind === "text" || kind === "binary") return undefined;
  const at = documents.follow(media.schema);
  const schema = recordOf(at);
  const { type, properties, additionalProperties } = schema;
  if (type !== "object" && !(type === undefined && properties !== undefined)) return undefined;
  if (WHOLE.some((word) => schema[word] !== undefined)) return undefined;
  if (parameters.length === 0) return at;
  // Arguments with any name could not be told from parameters.
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
  const collides = parameters.some(
    ([argument]) => inside(inside(at, "properties") ?? at, argument) !== undefined,
  );
  return collides || properties === undefined ? undefined : at;
}

function bodySchema(writer: SchemaWriter, { kind, media }: ChosenBody): unknown {
  if (kind === "binary") return fileSchema(undefined);
  if (kind === "text") return { type: "string" };
  return media.schema ? writer.part(media.schema) : {};
}
