/**
 * Describes the object in the path of a request for the audit log. Runs before the change, because a deleted
 * object has no name.
 */
import { find } from "../gateway/names.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { AdminParts } from "./routes/parts.ts";

export type DescribeObject = (tag: string, reference: string | undefined) => AdminChange["object"];

/** Tags of config objects, with the kinds that config changes use. */
const CONFIG_KINDS = { "mcp-servers": "server", namespaces: "namespace", endpoints: "endpoint" } as const;
const KINDS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CONFIG_KINDS),
  ["users", "user"],
  ["api-keys", "api-key"],
  ["sessions", "session"],
  ["approvals", "approval"],
  ["provision-requests", "provision-request"],
  ["live", "call"],
]);

/**
 * `reference` is a uuid, or a name if the route accepts names. It is undefined if the path names no object.
 */
export function objectNamer({ control, access }: Pick<AdminParts, "control" | "access">): DescribeObject {
  return (tag, reference) => {
    const kind = KINDS.get(tag) ?? tag;
    if (reference === undefined) return { kind };
    const found = Object.hasOwn(CONFIG_KINDS, tag)
      ? find(control.compiled.objects[CONFIG_KINDS[tag as keyof typeof CONFIG_KINDS]], reference)
      : accountOrKey(tag, reference);
    return { kind, uuid: found?.uuid ?? reference, ...(found && { name: found.name }) };
  };

  function accountOrKey(tag: string, reference: string): FoundObject | undefined {
    if (tag === "users") {
      const found = access.accounts.byId(reference) ?? access.accounts.byEmail(reference);
      return found && { uuid: found.uuid, name: found.email };
    }
    const key =
      tag === "api-keys" ? access.keys.byReference(reference.toLowerCase(), undefined)[0] : undefined;
    return key?.principal.key && { uuid: key.principal.key.id, name: key.principal.key.name };
  }
}

interface FoundObject {
  readonly uuid: string;
  readonly name: string;
}
