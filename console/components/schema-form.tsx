/**
 * A form generated from a JSON Schema, with a second view for the JSON. Both views edit the same value, which
 * the page holds: `startForm` creates it, `formJson` returns the JSON to send.
 */
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { CodeField } from "./code-field.tsx";
import { indentJson } from "./json/indent-json.ts";
import { pathText } from "./json/json-text.ts";
import { checkDraft, type FormProblem } from "./schema-form/check-draft.ts";
import { type Draft, isMap, readDraft, writeDraft } from "./schema-form/draft.ts";
import { nodeOf } from "./schema-form/form-node.ts";
import { NodeField } from "./schema-form/node-field.tsx";
import { Members } from "./schema-form/object-field.tsx";
import { startDraft } from "./schema-form/start-draft.ts";
import "./schema-form.css";

export type { FormProblem };

export interface FormValue {
  readonly draft: Draft;
  /** The typed text of the JSON view; undefined: the form is shown. */
  readonly raw?: string | undefined;
}

/** Starts with `json` of an earlier call, or else with the defaults of the schema. */
export function startForm(schema: unknown, json?: string): FormValue {
  const given = json === undefined ? undefined : readDraft(json);
  return { draft: isMap(given) ? given : startDraft(schema) };
}

/** Returns the arguments as JSON; undefined if the typed text is not a JSON object. */
export function formJson({ draft, raw }: FormValue): string | undefined {
  if (raw !== undefined) return isMap(readDraft(raw)) ? raw : undefined;
  return writeDraft(draft) ?? "{}";
}

/** Returns the problems that the form can find itself. The gateway checks the rest. */
export function checkForm(schema: unknown, value: FormValue): readonly FormProblem[] {
  if (value.raw === undefined) return checkDraft(schema, value.draft);
  const draft = readDraft(value.raw);
  if (draft === undefined) return [{ path: [], text: texts.problems.json }];
  return isMap(draft) ? checkDraft(schema, draft) : [{ path: [], text: texts.notAnObject }];
}

export interface SchemaFormProps {
  readonly schema: unknown;
  readonly value: FormValue;
  readonly onInput: (value: FormValue) => void;
  readonly problems?: readonly FormProblem[];
}

const texts = componentTexts.form;
const NO_PROBLEMS: readonly FormProblem[] = [];

export function SchemaForm({ schema, value, onInput, problems = NO_PROBLEMS }: SchemaFormProps) {
  const { draft, raw } = value;
  const typed = raw === undefined ? undefined : readDraft(raw);
  const broken = raw !== undefined && !isMap(typed);
  return (
    <div class="form">
      <fieldset class="form-bar" aria-label={texts.view}>
        <Button
          size="small"
          pressed={raw === undefined}
          disabled={broken}
          onClick={() => onInput({ draft: typed ?? draft })}
        >
          {texts.asForm}
        </Button>
        <Button
          size="small"
          pressed={raw !== undefined}
          onClick={() => raw === undefined && onInput({ draft, raw: indentJson(writeDraft(draft) ?? "{}") })}
        >
          {texts.asJson}
        </Button>
      </fieldset>
      {problems.length > 0 && <Problems problems={problems} />}
      {raw === undefined ? (
        <FormView schema={schema} value={value} onInput={onInput} problems={problems} />
      ) : (
        <CodeField
          label={texts.rawLabel}
          rows={10}
          value={raw}
          error={broken ? (typed === undefined ? texts.brokenJson : texts.notAnObject) : undefined}
          onInput={(text) => onInput({ draft, raw: text })}
        />
      )}
    </div>
  );
}

function FormView({ schema, value, onInput, problems = NO_PROBLEMS }: SchemaFormProps) {
  const node = nodeOf(schema, schema);
  const form = { root: schema, problems, Field: NodeField };
  if (node.kind === "union")
    return (
      <NodeField
        form={form}
        path={[]}
        name={texts.variant}
        required
        schema={schema}
        draft={value.draft}
        onInput={(draft) => onInput({ draft })}
      />
    );
  // Arguments are always an object. A schema that does not describe one accepts any members.
  const object =
    node.kind === "object" ? node : { ...node, kind: "object" as const, members: [], additional: true };
  if (object.members.length === 0 && object.additional === undefined)
    return <p class="muted">{texts.nothing}</p>;
  return (
    <Members
      form={form}
      path={[]}
      name=""
      required
      node={object}
      draft={value.draft}
      onInput={(draft) => onInput({ draft })}
    />
  );
}

function Problems({ problems }: { readonly problems: readonly FormProblem[] }) {
  return (
    <div class="form-problems" role="alert">
      <strong>{texts.summary(problems.length)}</strong>
      <ul>
        {problems.map(({ path, text }, at) => (
          <li key={at}>
            {path.length > 0 && (
              <code>{pathText(path.map((part) => (/^\d+$/.test(part) ? Number(part) : part)))}</code>
            )}{" "}
            {text}
          </li>
        ))}
      </ul>
    </div>
  );
}
