/** The values before and after a change of the config, for people. Secrets are masked. */
import { may } from "../access/may.ts";
import type { Objects, StoredObject } from "../gateway/objects.ts";
import { present } from "../gateway/present.ts";
import type { ChangeRow } from "../gateway/settle.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Change } from "./schemas.ts";

/** Rows with values, as far as the principal may read them. */
export function withValues(
  rows: readonly ChangeRow[],
  [before, after]: readonly [Objects, Objects],
  principal: Principal,
): readonly Change[] {
  return rows.map((row) =>
    row.kind === "settings" && !may(principal, "settings")
      ? row
      : { ...row, ...valuesOf(row, before, after) },
  );
}

/** For a changed secret only the name of the field shows the change. */
function valuesOf({ kind, uuid, fields }: ChangeRow, before: Objects, after: Objects) {
  const [old, now] = [before, after].map((objects) => {
    const object: StoredObject | undefined = objects[kind].get(uuid);
    if (!object) return undefined;
    const shown: Readonly<Record<string, unknown>> = { ...present(object) };
    return fields ? Object.fromEntries(fields.map((field) => [field, shown[field]])) : shown;
  });
  return { ...(old && { before: old }), ...(now && { after: now }) };
}
