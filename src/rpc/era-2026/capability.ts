/**
 * Whether a client declared the capability that a question needs. In the stateless era it must declare it
 * with the same request.
 */
import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";

type Declared = Readonly<Record<string, unknown>>;

/** The capabilities that a question needs; undefined if the method is no question of this era. */
function neededFor(method: string, params: Raw | undefined): Declared | undefined {
  const asked = (params ? fromRaw(params) : {}) as Declared | null;
  switch (method) {
    case "elicitation/create":
      return { elicitation: asked?.["mode"] === "url" ? { url: {} } : { form: {} } };
    case "sampling/createMessage":
      return { sampling: asked?.["tools"] === undefined ? {} : { tools: {} } };
    case "roots/list":
      return { roots: {} };
    default:
      return undefined;
  }
}

/** Why the client cannot be asked; undefined if it can. */
export function cannotAsk(capabilities: Raw, method: string, params: Raw | undefined): string | undefined {
  const needed = neededFor(method, params);
  if (!needed) return `${method} cannot be sent to a client of this protocol version`;
  const missing = lacking(capabilities, needed);
  return missing && `the client did not declare the capability it needs: ${JSON.stringify(missing)}`;
}

/** The missing capabilities for a question of any era. An unknown method needs none. */
export function undeclaredFor(
  capabilities: Raw,
  method: string,
  params: Raw | undefined,
): object | undefined {
  const needed = neededFor(method, params);
  return needed && lacking(capabilities, needed);
}

/** The part of `required` that the client did not declare; undefined if nothing is missing. */
export function lacking(capabilities: Raw, required: object): object | undefined {
  const declared = withDefaults(fromRaw(capabilities) as Declared);
  const missing: Record<string, unknown> = {};
  for (const [name, needed] of Object.entries(required)) {
    const has = declared[name];
    if (!isRecord(has)) missing[name] = needed;
    else if (isRecord(needed)) {
      const parts = Object.entries(needed).filter(([part]) => !isRecord(has[part]));
      if (parts.length > 0) missing[name] = Object.fromEntries(parts);
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** Elicitation without modes means forms. */
function withDefaults(declared: Declared): Declared {
  const { elicitation } = declared;
  if (!isRecord(elicitation) || "url" in elicitation || "form" in elicitation) return declared;
  return { ...declared, elicitation: { ...elicitation, form: {} } };
}
