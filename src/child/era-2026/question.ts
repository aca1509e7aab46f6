/**
 * Reads results with `input_required`, in which a child asks questions before it can answer, and writes the
 * answers for the next request.
 */
import { randomUUID } from "node:crypto";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, isString, joinObject, members, withMember } from "../../rpc/slice.ts";

export interface ChildQuestion {
  readonly name: string;
  readonly method: string;
  readonly params: Raw | undefined;
}

export interface ChildQuestions {
  readonly asked: readonly ChildQuestion[];
  /** `requestState`, which goes back to the child unchanged. */
  readonly state: Raw | undefined;
}

const QUESTION = Buffer.from('"input_required"');
const URL_MODE = Buffer.from('"url"');

/** Returns undefined for a final result. Invalid entries are left out; the child gets no answer to them. */
export function readQuestions(result: Raw): ChildQuestions | undefined {
  if (!result.includes(QUESTION)) return undefined;
  const [type, requests, state] = members(result, ["resultType", "inputRequests", "requestState"]);
  if (!type?.equals(QUESTION)) return undefined;
  return { asked: requests ? questionsIn(requests) : [], state };
}

export function questionsIn(requests: Raw): readonly ChildQuestion[] {
  return isObject(requests)
    ? entries(requests).flatMap(([name, request]) => readQuestion(name, request) ?? [])
    : [];
}

function readQuestion(name: string, request: Raw): ChildQuestion | undefined {
  if (!isObject(request)) return undefined;
  const [method, params] = members(request, ["method", "params"]);
  return method && isString(method) ? { name, method: fromRaw(method) as string, params } : undefined;
}

/** The params of the request that is sent again with the answers. The state is returned byte by byte. */
export function answering(
  params: Raw,
  answers: readonly (readonly [string, Raw])[],
  state: Raw | undefined,
): Raw {
  const answered = withMember(params, "inputResponses", answers.length > 0 ? joinObject(answers) : undefined);
  return withMember(answered, "requestState", state);
}

/**
 * Adds an `elicitationId`: clients of the session-based era need one for a URL, and children of this era send
 * none.
 */
export function withPageId(params: Raw | undefined): Raw | undefined {
  const [mode, id] = params ? members(params, ["mode", "elicitationId"]) : [];
  if (!params || !mode?.equals(URL_MODE) || id) return params;
  return withMember(params, "elicitationId", toRaw(randomUUID()));
}
