/** Checks bodies against the schemas of their routes. */
import { invalid } from "../gateway/refusal.ts";
import { loadValidator, type Validator } from "../gateway/schema-check.ts";
import type { Schema } from "../kernel/json-schema.ts";

let validator: Promise<Validator> | undefined;

/** Returns the body with defaults filled in. Rejects with a Refusal that lists the errors. */
export async function checkedBody(schema: Schema, body: unknown): Promise<unknown> {
  validator ??= loadValidator();
  const checked = (await validator)(schema, body);
  if ("value" in checked) return checked.value;
  throw invalid(checked);
}
