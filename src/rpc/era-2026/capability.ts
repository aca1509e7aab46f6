/** Which questions a client said it can answer. What it did not declare, in the stateless era with this very request, it cannot. */
import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";

type Declared = Readonly<Record<string, unknown>>;

/** The capabilities a question of this kind needs; undefined for what is no question of this era. */
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

/** Why the client cannot be asked this; undefined where it can. */
export function cannotAsk(capabilities: Raw, method: string, params: Raw | undefined): string | undefined {
  const needed = neededFor(method, params);
  if (!needed) return `${method} cannot be sent to a client of this protocol version`;
  const missing = lacking(capabilities, needed);
  return missing && `the client did not declare the capability it needs: ${JSON.stringify(missing)}`;
}

/** The same for a question of any era: what is no known question may always be put. */
export function undeclaredFor(
  capabilities: Raw,
  method: string,
  params: Raw | undefined,
): object | undefined {
  const needed = neededFor(method, params);
  return needed && lacking(capabilities, needed);
}

/** The part of `required` that was not declared; undefined where nothing is missing. */
export function lacking(capabilities: Raw, required: object): object | undefined {
  const declared = withDefaults(fromRaw(capabilities) as Declared);
  const missing: Record<string, unknown> = {};
  for (const [name, wanted] of Object.entries(required)) {
    const has = declared[name];
    if (!isRecord(has)) missing[name] = wanted;
    else if (isRecord(wanted)) {
      const parts = Object.entries(wanted).filter(([part]) => !isRecord(has[part]));
      if (parts.length > 0) missing[name] = Object.fromEntries(parts);
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** Elicitation that says nothing about its modes means forms. */
function withDefaults(declared: Declared): Declared {
  const { elicitation } = declared;
  if (!isRecord(elicitation) || "url" in elicitation || "form" in elicitation) return declared;
  return { ...declared, elicitation: { ...elicitation, form: {} } };
}
