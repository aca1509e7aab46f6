/** Routes to export, compare and apply the config as one document. */
import { type ApplyOptions, type ApplyOutcome, applyDocument } from "../../gateway/document/apply.ts";
import { exportDocument, SECTIONS } from "../../gateway/document/document.ts";
import { writeYaml } from "../../gateway/document/yaml.ts";
import type { Objects } from "../../gateway/objects.ts";
import { below, Refusal } from "../../gateway/refusal.ts";
import type { ChangeContext } from "../../gateway/settle.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { JSON_TYPES, YAML_TYPES } from "../body.ts";
import { refuseManyObjects } from "../many-objects.ts";
import { type AdminRequest, DRY_RUN, type Route, TAKE_OVER } from "../route.ts";
import { APPLY, ref } from "../schemas.ts";
import { type AdminParts, change, checkedBody, isOn } from "./parts.ts";

const [YAML] = YAML_TYPES;

interface ApplyBody extends Pick<ApplyOptions, "prune" | "source"> {
  readonly document: unknown;
}

export function configRoutes(parts: AdminParts): readonly Route[] {
  const { control } = parts;
  return [
    {
      method: "GET",
      path: "/config",
      summary: "Export the config as a document, with names instead of ids and without secrets",
      tag: "config",
      // The document contains the settings.
      action: "settings",
      answer: APPLY.properties.document,
      answerTypes: ["application/json", YAML],
      async handle({ accept }) {
        const document = exportDocument(control.compiled.objects);
        if (!YAML_TYPES.some((type) => accept.includes(type))) return { body: document };
        return { text: { type: YAML, content: await writeYaml(document) } };
      },
    },
    {
      method: "POST",
      path: "/config/diff",
      summary: "Show what applying a document would change",
      tag: "config",
      action: "config.apply",
      query: TAKE_OVER,
      body: ref("Apply"),
      types: [...JSON_TYPES, ...YAML_TYPES],
      answer: ref("Changes"),
      async handle(request) {
        const query = new URLSearchParams(request.query);
        query.set("dryRun", "true");
        const done = await apply(parts, { ...request, query });
        return { body: { changes: done.outcome.changes, ...leftIn(done.outcome) } };
      },
    },
    {
      method: "POST",
      path: "/config/apply",
      summary: "Apply a document, in one revision or not at all",
      tag: "config",
      // For an editor, `change` refuses documents with changes that an editor may not make.
      action: "config.apply",
      query: { ...DRY_RUN, ...TAKE_OVER },
      body: ref("Apply"),
      types: [...JSON_TYPES, ...YAML_TYPES],
      answer: ref("Applied"),
      async handle(request) {
        const done = await apply(parts, request);
        if ("dry" in done) return done.dry;
        const { revision, changes, outcome } = done;
        return { body: { revision, changes, ...leftIn(outcome) } };
      },
    },
  ];
}

/** Objects of this file that the API took over: the store differs from the file, and applying it does not change that. */
function leftIn({ left }: ApplyOutcome): { left?: ApplyOutcome["left"] } {
  return left.length > 0 ? { left } : {};
}

async function apply(parts: AdminParts, request: AdminRequest) {
  const { document, prune = false, source } = await checkedBody<ApplyBody>(APPLY, request.body);
  if (isRecord(document)) refuseManyObjects(Object.values(SECTIONS).map((name) => document[name]));
  const options = { prune, source, takeOver: isOn(request.query, "takeOver") };
  const from = source === undefined ? "" : ` ${source}`;
  return await change(
    parts,
    request,
    (objects, context) => applied(objects, document, options, context),
    `apply${from || " a document"}`,
  );
}

/** Prefixes the paths of errors with /document, because the document is a member of the body. */
function applied(objects: Objects, document: unknown, options: ApplyOptions, context: ChangeContext) {
  try {
    return applyDocument(objects, document, options, context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { errors = [] } = error.details;
    throw new Refusal(error.code, error.message, { ...error.details, errors: below("/document", errors) });
  }
}
