/** What the path of a request means, as records of changes name it: by the name it has while it is still there. */
import { find } from "../gateway/names.ts";
import type { AdminChange } from "../kernel/events.ts";
import type { AdminParts } from "./routes/parts.ts";

export type NamedObject = (tag: string, reference: string) => AdminChange["object"];

/** A change of the config names them so. */
const KINDS = { "mcp-servers": "server", namespaces: "namespace", endpoints: "endpoint" } as const;

/** `reference`: a uuid, or a name where the routes take one. */
export function objectNamer({ control, access }: Pick<AdminParts, "control" | "access">): NamedObject {
  return (tag, reference) => {
    const kind = Object.hasOwn(KINDS, tag) ? KINDS[tag as keyof typeof KINDS] : undefined;
    const found = kind ? find(control.compiled.objects[kind], reference) : personal(tag, reference);
    return { kind: kind ?? tag, uuid: found?.uuid ?? reference, ...(found && { name: found.name }) };
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
