/** What the path of a request means, as records of changes name it: by the name it has while it is still there. */
import { find } from "../gateway/names.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { AdminParts } from "./routes/parts.ts";

export type NamedObject = (tag: string, reference: string | undefined) => AdminChange["object"];

/** A change of the config names them so. */
const CONFIG = { "mcp-servers": "server", namespaces: "namespace", endpoints: "endpoint" } as const;
const KINDS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CONFIG),
  ["users", "user"],
  ["api-keys", "api-key"],
  ["sessions", "session"],
  ["approvals", "approval"],
  ["provision-requests", "provision-request"],
  ["live", "call"],
]);

/** `reference`: a uuid, or a name where the routes take one; undefined: the path names none. */
export function objectNamer({ control, access }: Pick<AdminParts, "control" | "access">): NamedObject {
  return (tag, reference) => {
    const kind = KINDS.get(tag) ?? tag;
    if (reference === undefined) return { kind };
    const found = Object.hasOwn(CONFIG, tag)
      ? find(control.compiled.objects[CONFIG[tag as keyof typeof CONFIG]], reference)
      : personal(tag, reference);
    return { kind, uuid: found?.uuid ?? reference, ...(found && { name: found.name }) };
  };

  function personal(tag: string, reference: string): Found | undefined {
    if (tag === "users") {
      const found = access.accounts.byId(reference) ?? access.accounts.byEmail(reference);
      return found && { uuid: found.uuid, name: found.email };
    }
    const key = tag === "api-keys" ? access.keys.called(reference.toLowerCase(), undefined)[0] : undefined;
    return key?.principal.key && { uuid: key.principal.key.id, name: key.principal.key.name };
  }
}

interface Found {
  readonly uuid: string;
  readonly name: string;
}
