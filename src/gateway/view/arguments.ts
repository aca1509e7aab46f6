/**
 * Arguments that a namespace sets for a tool. They change the shown schema and are added to each call. All
 * other bytes stay.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { perObject } from "../../kernel/per-object.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isObject, joinObject, member, members, withFirst, withMember } from "../../rpc/slice.ts";
import type { ArgumentOverride, ToolOverride } from "../schemas.ts";

export interface SetArgument {
  readonly name: string;
  readonly value: Raw;
  /** True: always sent, and the caller must not give it. False: added if the caller does not give it. */
  readonly fixed: boolean;
  /** The bytes of the member, name and value. */
  readonly written: Buffer;
}

const none: readonly SetArgument[] = [];

export function argumentsOf(rule: ToolOverride | undefined): readonly SetArgument[] {
  return rule?.args ? setArguments(rule.args) : none;
}

const setArguments = perObject((args: Readonly<Record<string, ArgumentOverride>>): readonly SetArgument[] =>
  Object.keys(args)
    .sort()
    .map((name) => setArgument(name, args[name] as ArgumentOverride)),
);

function setArgument(name: string, rule: ArgumentOverride): SetArgument {
  const fixed = "fixed" in rule;
  const value = toRaw(fixed ? rule.fixed : rule.default);
  return { name, value, fixed, written: Buffer.from(`${JSON.stringify(name)}:${value.toString()}`) };
}

/** The arguments for the child. `null` counts as given. Throws `validation_input`. */
export function applyArguments(args: Raw, set: readonly SetArgument[]): Raw {
  if (set.length === 0) return args;
  if (!isObject(args)) throw new MetaMcpError("validation_input", "The arguments must be an object.");
  const given = members(
    args,
    set.map(({ name }) => name),
  );
  const refused = set.filter(({ fixed }, at) => fixed && given[at] !== undefined);
  if (refused.length > 0) {
    const names = refused.map(({ name }) => name);
    const list = names.map((name) => `"${name}"`).join(", ");
    throw new MetaMcpError(
      "validation_input",
      `${list} ${names.length === 1 ? "is" : "are"} set by the gateway: call again without them.`,
      { details: { fixed: names } },
    );
  }
  const added = set.filter((_, at) => given[at] === undefined);
  return added.length === 0
    ? args
    : withFirst(
        args,
        added.map(({ written }) => written),
      );
}

/** The input schema for clients: without fixed arguments, and with defaults, which are not required. */
export function shownSchema(schema: Raw, set: readonly SetArgument[]): Raw {
  const [properties, required] = members(schema, ["properties", "required"]);
  const before = properties && isObject(properties) ? properties : EMPTY_OBJECT;
  let after = before;
  for (const { name, value, fixed } of set)
    after = withMember(after, name, fixed ? undefined : withDefault(member(after, name), value));
  const shown =
    after === before || (!properties && after.length === 2)
      ? schema
      : withMember(schema, "properties", after);
  return required ? withMember(shown, "required", stillRequired(required, set)) : shown;
}

function withDefault(property: Raw | undefined, value: Raw): Raw {
  return property && isObject(property)
    ? withMember(property, "default", value)
    : joinObject([["default", value]]);
}

/** Undefined if no argument is required. */
function stillRequired(required: Raw, set: readonly SetArgument[]): Raw | undefined {
  const names = new Set<unknown>(set.map(({ name }) => name));
  const left = elements(required).filter((name) => !names.has(fromRaw(name)));
  return left.length > 0 ? joinArray(left) : undefined;
}
