/** A result that is none yet: the child wants to know something first. Reads it, and writes the answers as the child wants them back. */
import { randomUUID } from "node:crypto";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, isString, joinObject, members, withMember } from "../../rpc/slice.ts";

export interface ChildQuestion {
  readonly name: string;
  readonly method: string;
  readonly params: Raw | undefined;
}

/** All the child asks at once, and what it wants back unread. */
export interface ChildQuestions {
  readonly asked: readonly ChildQuestion[];
  readonly state: Raw | undefined;
}

const QUESTION = Buffer.from('"input_required"');
const URL_MODE = Buffer.from('"url"');

/** Undefined for a result. Entries that are no questions are left out: the child gets no answer to them. */
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

/** The request once more, with the answers; the state byte by byte as it came. */
export function answering(
  params: Raw,
  answers: readonly (readonly [string, Raw])[],
  state: Raw | undefined,
): Raw {
  const answered = withMember(params, "inputResponses", answers.length > 0 ? joinObject(answers) : undefined);
  return withMember(answered, "requestState", state);
}

/** Clients of the old era know a page they are sent to by an id, which this era no longer gives. */
export function withPageId(params: Raw | undefined): Raw | undefined {
  const [mode, id] = params ? members(params, ["mode", "elicitationId"]) : [];
  if (!params || !mode?.equals(URL_MODE) || id) return params;
  return withMember(params, "elicitationId", toRaw(randomUUID()));
}
