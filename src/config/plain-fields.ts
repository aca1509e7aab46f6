/** Reads the fields of a server whose schema says everything: times, whole numbers, and one of some words. */
import { choice, type Findings, type Keys, time, whole } from "./field.ts";
import type { ServerField } from "./server-field.ts";
import { type FieldName, fieldsWhere, SERVER_FIELDS } from "./server-fields.ts";

type Fields = typeof SERVER_FIELDS;
type Only = ServerField["only"];
type Value<F> = F extends { readonly schema: { readonly enum: readonly (infer Word)[] } } ? Word : number;

/**
 * The fields with a preset that all servers have, or with `"stdio"` and `"remote"` those that only such
 * servers have.
 */
export type PlainFields<O extends Only = undefined> = {
  readonly [K in FieldName as Fields[K] extends { readonly preset: unknown }
    ? O extends (Fields[K] extends { readonly only: infer Its } ? Its : undefined)
      ? K
      : never
    : never]: Value<Fields[K]>;
};

const PLAIN = fieldsWhere(({ preset }) => preset !== undefined);

export function readPlain<const O extends Only>(entry: Keys, only: O, findings: Findings): PlainFields<O> {
  const values = PLAIN.flatMap((name) => {
    const field: ServerField = SERVER_FIELDS[name];
    return field.only === only ? [[name, read(entry[name], name, field, findings)]] : [];
  });
  return Object.fromEntries(values) as PlainFields<O>;
}

function read(value: unknown, name: string, field: ServerField, findings: Findings): unknown {
  const { schema, unit, preset } = field;
  if (unit === "ms") return time(value, name, findings) ?? preset;
  if (Array.isArray(schema["enum"])) {
    const { chosen, wrong } = choice(value, name, schema["enum"] as readonly string[]);
    // A misspelt security setting must not mean the default.
    if (wrong && field.guards) findings.fault([name], wrong);
    else if (wrong) findings.warn(wrong);
    return chosen ?? preset;
  }
  const { minimum, maximum } = schema as { readonly minimum: number; readonly maximum: number };
  const number = whole(value, name, findings, minimum) ?? (preset as number);
  if (number > maximum) findings.warn(`${name} is ${number}: at most ${maximum} are used`);
  return Math.min(number, maximum);
}
