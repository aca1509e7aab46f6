/**
 * Reads one operation of a document of any version into one form. Pure. Throws DocumentFault if it cannot be
 * called as written.
 */
import { isRecord } from "../../kernel/is-record.ts";
import {
  DocumentFault,
  type Documents,
  elementsOf,
  inside,
  type Json,
  type Located,
  membersOf,
  recordOf,
  textOf,
} from "./documents.ts";
import { PLACES, type Place, type Serialization, type Style } from "./style.ts";
import { styleOfCollection, withoutParameterWords } from "./swagger-2.ts";

export interface Parameter extends Serialization {
  readonly name: string;
  readonly in: Place;
  readonly required: boolean;
  readonly schema: Located;
  readonly description: string | undefined;
}

export interface MediaType {
  readonly type: string;
  readonly schema: Located | undefined;
  /** How the members of a form are written, by name. */
  readonly encoding: Readonly<Record<string, Encoding>>;
}

export interface Encoding extends Partial<Serialization> {
  readonly contentType?: string;
}

export interface Body {
  readonly required: boolean;
  readonly description: string | undefined;
  readonly media: readonly MediaType[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly at: Located;
  readonly id: string | undefined;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly deprecated: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  /** The media types of the first successful response. */
  readonly answers: readonly MediaType[];
  /** Its own servers, if it is not at those of the document. */
  readonly servers: Located | undefined;
  /** What MetaMCP wrote about a tool that it described. */
  readonly mcp: Json | undefined;
}

export interface OperationAt {
  readonly method: string;
  readonly path: string;
  readonly item: Located;
  readonly at: Located;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const TOKEN = /^[A-Za-z][A-Za-z-]{0,31}$/;

/** All operations. A path whose item cannot be read is given to `refuse`. */
export function* operationsOf(
  documents: Documents,
  refuse: (fault: DocumentFault) => void,
): Generator<OperationAt> {
  for (const [path, written] of membersOf(inside(documents.root, "paths"))) {
    if (!path.startsWith("/")) continue;
    let item: Located;
    try {
      item = documents.follow(written);
      if (!isRecord(item.value)) throw new DocumentFault("a path must be an object", item);
    } catch (fault) {
      refuse(fault as DocumentFault);
      continue;
    }
    for (const [method, at] of membersOf(item))
      if (METHODS.includes(method)) yield { method: method.toUpperCase(), path, item, at };
    for (const [method, at] of membersOf(inside(item, "additionalOperations")))
      if (TOKEN.test(method)) yield { method, path, item, at };
  }
}

export function readOperation(documents: Documents, { method, path, item, at }: OperationAt): Operation {
  const operation = recordOf(at);
  if (!isRecord(at.value)) throw new DocumentFault("an operation must be an object", at);
  const old = documents.root.value !== undefined && "swagger" in recordOf(documents.root);
  const written = parametersIn(documents, item, at);
  const parameters = written.flatMap((one) => readParameter(one, old, path) ?? []);
  return {
    method,
    path,
    at,
    id: textOf(operation["operationId"]),
    summary: textOf(operation["summary"]) ?? textOf(recordOf(item)["summary"]),
    description: textOf(operation["description"]) ?? textOf(recordOf(item)["description"]),
    deprecated: operation["deprecated"] === true,
    parameters,
    body: old ? oldBody(documents, at, written) : readBody(documents, at),
    answers: answersOf(documents, at, old),
    servers: inside(at, "servers") ?? inside(item, "servers"),
    mcp: isRecord(operation["x-metamcp"]) ? operation["x-metamcp"] : undefined,
  };
}

/** Those of the operation replace those of the path. */
function parametersIn(documents: Documents, item: Located, at: Located): readonly Located[] {
  const all = new Map<string, Located>();
  for (const one of [...elementsOf(inside(item, "parameters")), ...elementsOf(inside(at, "parameters"))]) {
    const found = documents.follow(one);
    const { name, in: place } = recordOf(found);
    if (typeof name !== "string" || typeof place !== "string")
      throw new DocumentFault('a parameter needs "name" and "in"', found);
    all.set(`${place} ${name}`, found);
  }
  return [...all.values()];
}

const STYLES: Readonly<Record<Place, readonly Style[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

function readParameter(at: Located, old: boolean, path: string): Parameter | undefined {
  const written = recordOf(at);
  const { name, style, explode } = written;
  const place = PLACES.find((one) => one === written["in"]);
  if (!place) {
    if (old && (written["in"] === "body" || written["in"] === "formData")) return undefined;
    throw new DocumentFault(`a parameter in "${String(written["in"]).slice(0, 40)}" is not supported`, at);
  }
  if (place === "path" && !path.includes(`{${name as string}}`)) return undefined;
  const [content] = membersOf(inside(at, "content"));
  const allowed = STYLES[place];
  const chosen = allowed.find((one) => one === style) ?? (allowed[0] as Style);
  return {
    name: name as string,
    in: place,
    required: place === "path" || written["required"] === true,
    description: textOf(written["description"]),
    schema: schemaOfParameter(at, old, content?.[1]),
    ...(old
      ? styleOfCollection(written, place)
      : {
          style: chosen,
          explode: typeof explode === "boolean" ? explode : chosen === "form" || chosen === "deepObject",
        }),
    allowReserved: place === "query" && written["allowReserved"] === true,
    ...(content && { content: content[0] }),
  };
}

function schemaOfParameter(at: Located, old: boolean, content: Located | undefined): Located {
  if (old) return { ...at, value: withoutParameterWords(recordOf(at)) };
  return (content ? inside(content, "schema") : inside(at, "schema")) ?? { ...at, value: {} };
}

function readBody(documents: Documents, at: Located): Body | undefined {
  const written = inside(at, "requestBody");
  if (!written) return undefined;
  const body = documents.follow(written);
  const media = mediaIn(documents, body);
  if (media.length === 0) return undefined;
  const { required, description } = recordOf(body);
  return { required: required === true, description: textOf(description), media };
}

function mediaIn(documents: Documents, at: Located): readonly MediaType[] {
  return membersOf(inside(at, "content")).map(([type, written]) => {
    const media = documents.follow(written);
    const encoding = membersOf(inside(media, "encoding")).map(([name, one]) => [
      name,
      encodingOf(recordOf(one)),
    ]);
    return {
      type,
      schema: inside(media, "schema"),
      encoding: Object.fromEntries(encoding) as MediaType["encoding"],
    };
  });
}

function encodingOf({ contentType, style, explode, allowReserved }: Json): Encoding {
  return {
    ...(typeof contentType === "string" && { contentType }),
    ...(STYLES.query.includes(style as Style) && { style: style as Style }),
    ...(typeof explode === "boolean" && { explode }),
    ...(allowReserved === true && { allowReserved }),
  };
}

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data";

/** In Swagger 2 the body is a parameter, and so is each member of a form. */
function oldBody(documents: Documents, at: Located, parameters: readonly Located[]): Body | undefined {
  const root = recordOf(documents.root);
  const consumed = [recordOf(at)["consumes"], root["consumes"]].find(Array.isArray) as unknown[] | undefined;
  const types = (consumed ?? []).filter((one) => typeof one === "string");
  const body = parameters.find((one) => recordOf(one)["in"] === "body");
  if (body) {
    const { required, description } = recordOf(body);
    const schema = inside(body, "schema");
    const media = (types.length > 0 ? types : ["application/json"]).map((type) => ({
      type,
      schema,
      encoding: {},
    }));
    return { required: required === true, description: textOf(description), media };
  }
  const fields = parameters.filter((one) => recordOf(one)["in"] === "formData");
  if (fields.length === 0) return undefined;
  const all = fields.map(recordOf);
  const hasFile = all.some(({ type }) => type === "file");
  const encoding = Object.fromEntries(all.map((one) => [one["name"], styleOfCollection(one, "query")]));
  const schema = {
    type: "object",
    properties: Object.fromEntries(all.map((one) => [one["name"], withoutParameterWords(one)])),
    required: all.filter(({ required }) => required === true).map(({ name }) => name),
  };
  const type = hasFile || (types.includes(MULTIPART) && !types.includes(FORM)) ? MULTIPART : FORM;
  const required = schema.required.length > 0;
  return { required, description: undefined, media: [{ type, schema: { ...at, value: schema }, encoding }] };
}

function answersOf(documents: Documents, at: Located, old: boolean): readonly MediaType[] {
  const responses = membersOf(inside(at, "responses")).filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const [first] = responses.toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (!first) return [];
  try {
    const response = documents.follow(first[1]);
    if (!old) return mediaIn(documents, response);
    const schema = inside(response, "schema");
    return schema ? [{ type: "application/json", schema, encoding: {} }] : [];
  } catch {
    // The operation can be called, whatever it answers.
    return [];
  }
}
