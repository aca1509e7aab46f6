/** The error for a change that is refused. One row per code, with the HTTP status of the admin API. The message says what to do. */

const REFUSALS = {
  not_yours: { status: 403, title: "You may not decide this" },
  not_found: { status: 404, title: "Not found" },
  name_taken: { status: 409, title: "Name taken" },
  in_use: { status: 409, title: "Still in use" },
  collision: { status: 409, title: "Tool names collide" },
  managed: { status: 409, title: "Managed by a file" },
  decided: { status: 409, title: "Already decided" },
  stale: { status: 412, title: "Changed by somebody else" },
  invalid: { status: 422, title: "Invalid" },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** A problem in the input, with its place. */
export interface FieldProblem {
  /** A JSON Pointer (RFC 6901) into the input. */
  readonly path: string;
  readonly message: string;
}

export interface RefusalDetails {
  readonly errors?: readonly FieldProblem[];
  /** For `stale`: the current object, in the form of the API. */
  readonly current?: unknown;
  /** The objects that prevent the change. */
  readonly objects?: readonly { readonly kind: string; readonly uuid: string; readonly name: string }[];
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): 403 | 404 | 409 | 412 | 422 {
    return REFUSALS[this.code].status;
  }

  /** RFC 9457, `application/problem+json`. */
  toJSON(): Record<string, unknown> {
    const { status, title } = REFUSALS[this.code];
    return {
      type: `urn:metamcp:problem:${this.code.replaceAll("_", "-")}`,
      title,
      status,
      detail: this.message,
      errors: this.details.errors ?? [],
      ...(this.details.current === undefined ? {} : { current: this.details.current }),
      ...(this.details.objects ? { objects: this.details.objects } : {}),
    };
  }
}

export function invalid(errors: readonly FieldProblem[]): Refusal {
  const [first] = errors;
  const where = first?.path ? `${first.path} ` : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new Refusal("invalid", `${where}${first?.message ?? "It is invalid"}${more}`, { errors });
}

/** Appends to a JSON Pointer. */
export function pointer(base: string, ...parts: readonly (string | number)[]): string {
  return base + parts.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Prefixes the paths of problems with `base`. */
export function below(base: string, problems: readonly FieldProblem[]): readonly FieldProblem[] {
  return problems.map(({ path, message }) => ({ path: base + path, message }));
}
