/** Bounds how much one request may change. Each object and each of its secrets costs some ten microseconds while nobody else is served. */
import { isRecord } from "../kernel/is-record.ts";
import { Problem } from "./problem.ts";

const MAX_OBJECTS = 2_000;
const SECRETS = ["env", "headers"];

/** Each section contains objects by name. Throws Problem. */
export function refuseManyObjects(sections: readonly unknown[]): void {
  let count = 0;
  for (const section of sections)
    for (const entry of isRecord(section) ? Object.values(section) : []) count += 1 + secretsIn(entry);
  if (count > MAX_OBJECTS)
    throw new Problem(
      413,
      `one request may change at most ${MAX_OBJECTS} objects, variables and headers: split it`,
    );
}

function secretsIn(entry: unknown): number {
  if (!isRecord(entry)) return 0;
  return SECRETS.reduce((sum, name) => sum + Object.keys(entry[name] ?? {}).length, 0);
}
