/**
 * Imports an `.mcp.json` into the namespace and endpoint `default`, as one change. Existing objects stay as
 * they are. The layers at the top of the file become those of the endpoint, so they apply to the servers of
 * the file and to nothing else.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../kernel/is-record.ts";
import { create, patch } from "./changes.ts";
import { type ImportOutcome, importServers } from "./import-servers.ts";
import { find } from "./names.ts";
import type { Objects } from "./objects.ts";
import { type ChangeContext, changesBetween } from "./settle.ts";

const DEFAULT = "default";

export function importIntoDefault(objects: Objects, input: unknown, context: ChangeContext): ImportOutcome {
  const { middleware, ...rest } = (isRecord(input) ? input : {}) as { middleware?: unknown };
  const imported = importServers(objects, isRecord(input) ? rest : input, context, { addOnly: true });
  const inFile = Object.keys((isRecord(input) ? input["mcpServers"] : undefined) ?? {});
  let next = withNamespace(imported.objects, { inFile, created: imported.created }, context);
  const warnings = [...imported.warnings];
  const there = find(next.endpoint, DEFAULT);
  if (!there) {
    const layers = middleware === undefined ? {} : { middleware };
    next = create(next, "endpoint", { name: DEFAULT, namespaces: [DEFAULT], ...layers }, context).objects;
  } else if (middleware !== undefined && !isDeepStrictEqual(middleware, there.spec.middleware))
    warnings.push(`middleware: not imported, because the endpoint "${DEFAULT}" already exists with its own`);
  return { ...imported, objects: next, changes: changesBetween(objects, next), warnings };
}

/**
 * A new namespace gets all servers of the file. An existing one gets only new servers: the others may have
 * been removed from it on purpose.
 */
function withNamespace(
  objects: Objects,
  { inFile, created }: { inFile: readonly string[]; created: readonly string[] },
  context: ChangeContext,
): Objects {
  const there = find(objects.namespace, DEFAULT);
  if (!there) {
    const servers = inFile.map((server) => ({ server }));
    return create(objects, "namespace", { name: DEFAULT, servers }, context).objects;
  }
  if (created.length === 0 || there.managedBy !== "api") return objects;
  const servers = [...there.spec.servers, ...created.map((server) => ({ server }))];
  return patch(objects, { kind: "namespace", reference: there.uuid }, { servers }, context).objects;
}
