/**
 * Brings the entries of a child's lists into the form that the protocol gives them, where their meaning is
 * clear. Clients check a whole list at once, so that one wrong entry of one server would hide those of all
 * others. Entries without a fault keep their bytes.
 */
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { entries, isObject, isString, joinObject, member, withMember } from "../rpc/slice.ts";
import {
  anyObject,
  dateTime,
  flag,
  fraction,
  list,
  type Note,
  number,
  object,
  oneOf,
  type Rule,
  shown,
  text,
} from "./repair-rules.ts";

const OBJECT = toRaw("object");
const ANY_OBJECT = toRaw({ type: "object" });
const ANYTHING = toRaw({});
/** Schema types that cannot describe arguments: those are always an object. */
const NO_ARGUMENTS = /^"(string|number|integer|boolean|array)"$/;

const ICONS = list(
  object({ src: text, mimeType: text, sizes: list(text), theme: oneOf("light", "dark") }, "src"),
);
const COMMON = { title: text, description: text, icons: ICONS, _meta: anyObject };
const CONTENT_ANNOTATIONS = object({
  audience: list(oneOf("user", "assistant")),
  priority: fraction,
  lastModified: dateTime,
});

/** A property without a usable schema accepts anything. */
const properties: Rule = (value, at, note) => {
  if (!isObject(value)) return anyObject(value, at, note);
  const written = entries(value);
  const right = written.map(([key, schema]): [string, Raw] => {
    if (isObject(schema) || /^(true|false)$/.test(schema.toString("utf8", 0, 6))) return [key, schema];
    note(`${at}.${key} is ${shown(schema)}`);
    return [key, ANYTHING];
  });
  return right.every(([, schema], index) => schema === written[index]?.[1]) ? value : joinObject(right);
};
const SCHEMA = object({ properties, required: list(text) });

const TOOL = object({
  ...COMMON,
  outputSchema: SCHEMA,
  annotations: object({
    title: text,
    readOnlyHint: flag,
    destructiveHint: flag,
    idempotentHint: flag,
    openWorldHint: flag,
  }),
  execution: object({ taskSupport: oneOf("optional", "required", "forbidden") }),
});

/** Undefined if the tool cannot be used; `note` then gets the reason. */
export function repairTool(definition: Raw, note: Note): Raw | undefined {
  const repaired = TOOL(definition, "", note) as Raw;
  const written = member(repaired, "inputSchema");
  if (!written) note("inputSchema is missing");
  const schema = written && SCHEMA(written, "inputSchema", note);
  const input = schema ? asArguments(schema, note) : ANY_OBJECT;
  if (!input) return undefined;
  return input === written ? repaired : withMember(repaired, "inputSchema", input);
}

function asArguments(schema: Raw, note: Note): Raw | undefined {
  const type = member(schema, "type");
  if (type?.equals(OBJECT)) return schema;
  note(type ? `inputSchema.type is ${shown(type)}` : "inputSchema.type is missing");
  if (type && NO_ARGUMENTS.test(type.toString("utf8", 0, 16))) return undefined;
  return withMember(schema, "type", OBJECT);
}

const PROMPT = object({
  ...COMMON,
  arguments: list(object({ name: text, title: text, description: text, required: flag }, "name")),
});
const RESOURCE = object({ ...COMMON, mimeType: text, size: number, annotations: CONTENT_ANNOTATIONS });

export function repairPrompt(definition: Raw, note: Note): Raw {
  return PROMPT(definition, "", note) as Raw;
}

/** `key`: the member that identifies it, `uri` or `uriTemplate`. A missing name is taken from there. */
export function repairResource(definition: Raw, key: string, note: Note): Raw {
  const repaired = RESOURCE(definition, "", note) as Raw;
  const name = member(repaired, "name");
  if (name && isString(name)) return repaired;
  note(name ? `name is ${shown(name)}` : "name is missing");
  const uri = member(repaired, key);
  return withMember(repaired, "name", uri && isString(uri) ? toRaw(fromRaw(uri)) : undefined);
}

const CONTENT = object({ annotations: CONTENT_ANNOTATIONS, _meta: anyObject });
/** Some servers give the text of a message without its block. */
const MESSAGE_CONTENT: Rule = (value, at, note) =>
  isString(value)
    ? joinObject([
        ["type", toRaw("text")],
        ["text", value],
      ])
    : isObject(value)
      ? CONTENT(value, at, note)
      : value;
const PROMPT_RESULT = object({
  description: text,
  _meta: anyObject,
  messages: list(object({ content: MESSAGE_CONTENT })),
});
const READ_RESULT = object({
  _meta: anyObject,
  contents: list(object({ mimeType: text, _meta: anyObject })),
});
/** What a result with a fault contains. All others, among them large ones, are not searched further. */
const SUSPICIOUS = [Buffer.from("null"), Buffer.from('"content":"')];

/** The result of `prompts/get` or `resources/read`. */
export function repairItemResult(method: string, result: Raw): Raw {
  if (!SUSPICIOUS.some((text) => result.includes(text)) || !isObject(result)) return result;
  const rule = method === "prompts/get" ? PROMPT_RESULT : READ_RESULT;
  return rule(result, "", () => {}) ?? result;
}
