/** Error responses over plain HTTP: RFC 9457 `application/problem+json`. */

import type { ServerResponse } from "node:http";
import { TEST_RESULT } from "../gateway/test-result.ts";
import { FIELD_PROBLEM, type FieldProblem } from "../kernel/field-problem.ts";
import { ANY_OBJECT, list, named, object, TEXT } from "../kernel/json-schema.ts";
import { OBJECT_REFERENCE } from "../kernel/named-object.ts";

export const PROBLEM = named(
  "Problem",
  object(
    { type: TEXT, title: TEXT, status: { type: "integer" }, detail: TEXT },
    {
      errors: list(FIELD_PROBLEM),
      current: { ...ANY_OBJECT, description: "for 412: the current object" },
      tests: { ...list(TEST_RESULT), description: "the policy tests that would fail" },
      objects: { ...list(OBJECT_REFERENCE), description: "the objects that prevent the change" },
    },
  ),
);

export interface ProblemFields {
  readonly errors?: readonly FieldProblem[];
  /** Additional members of the response, such as `current`. They may replace `type`. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  412: "Changed by somebody else",
  413: "Too large",
  415: "Unsupported content type",
  422: "Invalid",
  429: "Too many requests",
  500: "Internal error",
  502: "Bad gateway",
  503: "Unavailable",
  504: "Timeout",
};

export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly title: string;
  readonly fields: ProblemFields;

  constructor(status: number, detail: string, { title, ...fields }: ProblemFields & { title?: string } = {}) {
    super(detail);
    this.status = status;
    this.title = title ?? TITLES[status] ?? "Error";
    this.fields = fields;
  }

  toJSON(): object {
    const { errors, more } = this.fields;
    return {
      type: "about:blank",
      title: this.title,
      status: this.status,
      detail: this.message,
      ...(errors && { errors }),
      ...more,
    };
  }
}

export function writeProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) return void response.destroy();
  const content = JSON.stringify(problem);
  response.writeHead(problem.status, {
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(content),
    "cache-control": "no-store",
    ...problem.fields.headers,
  });
  response.end(content);
}
