/** Routes to export, compare and apply the config as one document. */

import { type ApplyOutcome, applyingDocument } from "../../gateway/document/apply.ts";
import { DOCUMENT, exportingDocument, writingJson } from "../../gateway/document/document.ts";
import { writeYaml } from "../../gateway/document/document-worker.ts";
import { Refusal } from "../../gateway/refusal.ts";
import { below } from "../../kernel/field-problem.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Static } from "../../kernel/json-schema.ts";
import { inTurns } from "../../kernel/steps.ts";
import { JSON_TYPES, MAX_DOCUMENT_BYTES, YAML_TYPES } from "../body.ts";
import { checkedBody } from "../checked-body.ts";
import { POLICY_TESTS, testsBody } from "../policy-schemas.ts";
import { Problem } from "../problem.ts";
import { type AdminRequest, DRY_RUN, type QueryOf, route, TAKE_OVER } from "../route.ts";
import { APPLIED, APPLY, DIFF } from "../schemas.ts";
import { type AdminParts, change } from "./parts.ts";

const [YAML] = YAML_TYPES;

export function configRoutes(parts: AdminParts) {
  const { control } = parts;
  return [
    route({
      method: "GET",
      path: "/config",
      summary: "Export the config as a document, with names instead of ids and without secrets",
      tag: "config",
      // The document contains the settings.
      action: "settings",
      answer: DOCUMENT,
      answerTypes: ["application/json", YAML],
      async handle({ accept, principal }) {
        const document = await inTurns(exportingDocument(control.compiled.objects));
        const json = await inTurns(writingJson(document));
        if (!YAML_TYPES.some((type) => accept.includes(type)))
          return { text: { type: "application/json", content: json } };
        const yaml = await writeYaml(json, principal.id);
        if (typeof yaml !== "string") throw new Problem(yaml.status, yaml.reason);
        return { text: { type: YAML, content: yaml } };
      },
    }),
    route({
      method: "POST",
      path: "/config/diff",
      summary: "Show what applying a document would change",
      tag: "config",
      action: "config.apply",
      query: TAKE_OVER,
      body: APPLY,
      checksBody: true,
      maxBytes: MAX_DOCUMENT_BYTES,
      types: [...JSON_TYPES, ...YAML_TYPES],
      answer: DIFF,
      async handle(request) {
        const done = await apply(parts, { ...request, query: { ...request.query, dryRun: true } });
        return { body: { changes: done.outcome.changes, ...leftIn(done.outcome) } };
      },
    }),
    route({
      method: "POST",
      path: "/config/test",
      summary: "Run the policy tests of a document on what applying it would make; changes nothing",
      tag: "config",
      action: "settings",
      query: TAKE_OVER,
      body: APPLY,
      checksBody: true,
      maxBytes: MAX_DOCUMENT_BYTES,
      types: [...JSON_TYPES, ...YAML_TYPES],
      answer: POLICY_TESTS,
      async handle(request) {
        request.recordChanges([]);
        const { document, ...options } = await checked(request.body ?? {});
        const { takeOver = false } = request.query;
        const tests = await inDocument(() =>
          control.judge(undefined, (objects, context) =>
            applyingDocument(objects, document, { ...options, takeOver }, context),
          ),
        );
        return { body: testsBody(tests) };
      },
    }),
    route({
      method: "POST",
      path: "/config/apply",
      summary: "Apply a document, in one revision or not at all",
      tag: "config",
      // For an editor, `change` refuses documents with changes that an editor may not make.
      action: "config.apply",
      query: { ...DRY_RUN, ...TAKE_OVER },
      body: APPLY,
      checksBody: true,
      maxBytes: MAX_DOCUMENT_BYTES,
      types: [...JSON_TYPES, ...YAML_TYPES],
      answer: APPLIED,
      async handle(request) {
        const done = await apply(parts, request);
        if ("dry" in done) return done.dry;
        const { revision, changes, outcome } = done;
        return { body: { revision, changes, ...leftIn(outcome) } };
      },
    }),
  ];
}

/**
 * Objects of this file that the API took over: the store differs from the file, and applying it does not
 * change that.
 */
function leftIn({ left }: ApplyOutcome): { left?: ApplyOutcome["left"] } {
  return left.length > 0 ? { left } : {};
}

type Applying = AdminRequest<QueryOf<typeof DRY_RUN & typeof TAKE_OVER>, unknown>;

async function apply(parts: AdminParts, request: Applying) {
  const { document, prune, source } = await checked(request.body ?? {});
  const { takeOver = false } = request.query;
  const options = { prune, source, takeOver };
  const from = source === undefined ? "" : ` ${source}`;
  return await inDocument(() =>
    change(
      parts,
      request,
      (objects, context) => applyingDocument(objects, document, options, context),
      `apply${from || " a document"}`,
    ),
  );
}

/** The objects of a document are checked one by one when it is applied. */
async function checked(body: unknown): Promise<Static<typeof APPLY>> {
  if (!isRecord(body) || !isRecord(body["document"])) return (await checkedBody(APPLY, body)) as never;
  const { document } = body;
  const rest = (await checkedBody(APPLY, { ...body, document: {} })) as Static<typeof APPLY>;
  return { ...rest, document };
}

/** Prefixes the paths of errors with /document, because the document is a member of the body. */
async function inDocument<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { errors = [] } = error.details;
    throw new Refusal(error.code, error.message, { ...error.details, errors: below("/document", errors) });
  }
}
