/** Maps errors of gateway, access and store to HTTP problems. */
import { AccessError } from "../access/error.ts";
import { Refusal } from "../gateway/refusal.ts";
import { StoreError } from "../store/error.ts";
import { Problem } from "./problem.ts";

const RETRY_SECONDS = 5;

/** Returns undefined for an unexpected error, which is answered with 500. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Refusal) return refusalProblem(error);
  if (error instanceof AccessError) return accessProblem(error);
  if (!StoreError.is(error)) return undefined;
  const { code, message, unsure } = error;
  if (code === "unavailable") {
    const outcome = unsure ? "check whether the change was made before you repeat it" : "nothing was changed";
    return new Problem(503, `the store cannot be reached now: ${outcome}`, {
      headers: { "retry-after": String(RETRY_SECONDS) },
    });
  }
  if (code === "key_wrong") return new Problem(503, message);
  if (code === "conflict" || code === "taken") return new Problem(409, message);
  return code === "invalid" ? new Problem(422, message, { errors: [{ path: "", message }] }) : undefined;
}

function accessProblem({ status, message, retryAfterMs }: AccessError): Problem {
  const seconds = retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new Problem(
    status,
    message,
    seconds === undefined ? {} : { headers: { "retry-after": `${seconds}` } },
  );
}

function refusalProblem(refusal: Refusal): Problem {
  const { title, errors: _e, status: _s, detail: _d, ...more } = refusal.toJSON();
  const { errors = [] } = refusal.details;
  return new Problem(refusal.status, refusal.message, { title: String(title), errors, more });
}
