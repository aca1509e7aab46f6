/**
 * Maps errors of gateway, access and store to HTTP problems. The statuses of all of them are in one table
 * here.
 */
import { AccessError, type AccessErrorCode } from "../access/error.ts";
import { Refusal, type RefusalCode } from "../gateway/refusal.ts";
import { StoreError, type StoreErrorCode } from "../store/error.ts";
import { Problem } from "./problem.ts";

const RETRY_SECONDS = 5;

const REFUSED: Readonly<Record<RefusalCode, { readonly status: number; readonly title: string }>> = {
  not_yours: { status: 403, title: "You may not decide this" },
  not_found: { status: 404, title: "Not found" },
  name_taken: { status: 409, title: "Name taken" },
  in_use: { status: 409, title: "Still in use" },
  collision: { status: 409, title: "Tool names collide" },
  managed: { status: 409, title: "Managed by a file" },
  decided: { status: 409, title: "Already decided" },
  later_change: { status: 409, title: "Changed again later" },
  too_many: { status: 409, title: "Too many objects" },
  stale: { status: 412, title: "Changed by somebody else" },
  test_failed: { status: 422, title: "A policy test would fail" },
  invalid: { status: 422, title: "Invalid" },
};
const ACCESS: Readonly<Record<AccessErrorCode, number>> = {
  not_found: 404,
  taken: 409,
  last_admin: 409,
  too_many: 409,
  code_unknown: 404,
  passwords_off: 403,
  throttled: 429,
  busy: 503,
};
/** Codes that are missing here do not occur in a request. */
const STORE: Readonly<Partial<Record<StoreErrorCode, number>>> = {
  conflict: 409,
  taken: 409,
  invalid: 422,
  unavailable: 503,
  key_wrong: 503,
};

/** Returns undefined for an unexpected error, which is answered with 500. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Refusal) return refusalProblem(error);
  if (error instanceof AccessError) return accessProblem(error);
  return StoreError.is(error) ? storeProblem(error) : undefined;
}

function refusalProblem({ code, message, details }: Refusal): Problem {
  const { status, title } = REFUSED[code];
  const { errors = [], current, objects, tests } = details;
  return new Problem(status, message, {
    title,
    errors,
    more: {
      type: `urn:metamcp:problem:${code.replaceAll("_", "-")}`,
      ...(current === undefined ? {} : { current }),
      ...(objects ? { objects } : {}),
      ...(tests ? { tests } : {}),
    },
  });
}

function accessProblem({ code, message, retryAfterMs }: AccessError): Problem {
  const seconds = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const headers = seconds === undefined ? {} : { headers: { "retry-after": `${seconds}` } };
  return new Problem(ACCESS[code], message, headers);
}

function storeProblem({ code, message, unsure }: StoreError): Problem | undefined {
  const status = STORE[code];
  if (status === undefined) return undefined;
  if (code === "invalid") return new Problem(status, message, { errors: [{ path: "", message }] });
  if (code !== "unavailable") return new Problem(status, message);
  const outcome = unsure ? "check whether the change was made before you repeat it" : "nothing was changed";
  return new Problem(status, `the store cannot be reached now: ${outcome}`, {
    headers: { "retry-after": String(RETRY_SECONDS) },
  });
}
