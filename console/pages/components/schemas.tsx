/** Samples: forms generated from schemas. */
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import {
  checkForm,
  type FormProblem,
  formJson,
  SchemaForm,
  startForm,
} from "../../components/schema-form.tsx";
import { HOSTILE } from "./hostile.ts";
import { State } from "./state.tsx";

const ORDINARY = {
  type: "object",
  properties: {
    owner: { type: "string", description: "Who owns the repository.", minLength: 1 },
    title: { type: "string", description: "One line, or more." },
    state: { enum: ["open", "closed", "all"], default: "open", description: "Which issues." },
    labels: { type: "array", items: { type: "string" }, description: "All of them must be set." },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 30 },
    draft: { type: "boolean", description: "Nobody is told yet." },
    since: { type: "string", format: "date-time" },
    assignee: { type: ["string", "null"], description: "null: nobody." },
  },
  required: ["owner", "draft"],
};

const ODD = {
  type: "object",
  $defs: {
    filter: {
      type: "object",
      description: "A filter that may hold others.",
      properties: { field: { type: "string" }, and: { type: "array", items: { $ref: "#/$defs/filter" } } },
      required: ["field"],
    },
  },
  properties: {
    version: { const: 2 },
    target: {
      description: "Where it goes.",
      oneOf: [
        { title: "A file", type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        {
          title: "An address",
          type: "object",
          properties: { url: { type: "string", format: "uri" } },
          required: ["url"],
        },
        { title: "Its name", type: "string" },
      ],
    },
    filter: { $ref: "#/$defs/filter" },
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Sent with the request.",
    },
    picture: { type: "string", contentEncoding: "base64", contentMediaType: "image/png" },
    whatever: { description: HOSTILE },
  },
  required: ["version", "target", "headers"],
};

function FormSample({
  schema,
  json,
  shown = [],
}: {
  readonly schema: unknown;
  readonly json?: string;
  readonly shown?: readonly FormProblem[];
}) {
  const [value, setValue] = useState(() => startForm(schema, json));
  const [problems, setProblems] = useState(shown);
  const [sent, setSent] = useState<string>();
  return (
    <div class="stack">
      <SchemaForm schema={schema} value={value} onInput={setValue} problems={problems} />
      <div class="line">
        <Button
          kind="primary"
          onClick={() => {
            const found = checkForm(schema, value);
            setProblems(found);
            setSent(found.length === 0 ? formJson(value) : undefined);
          }}
        >
          Check
        </Button>
      </div>
      {sent !== undefined && <pre class="panel padded">{sent}</pre>}
    </div>
  );
}

export function OrdinaryForm() {
  return (
    <State name="A usual schema">
      <FormSample schema={ORDINARY} />
    </State>
  );
}

export function OddForm() {
  return (
    <State name="Unions, nesting, additional members, files, any JSON">
      <FormSample
        schema={ODD}
        json='{"version":2,"target":{"path":"/tmp"},"filter":{"field":"name","and":[{"field":"age"}]},"headers":{"accept":"text/html"}}'
      />
    </State>
  );
}

export function RefusedForm() {
  return (
    <>
      <State name="Problems that the gateway reported">
        <FormSample
          schema={{
            type: "object",
            properties: { owner: { type: "string" }, labels: { type: "array", items: { type: "string" } } },
            required: ["owner"],
          }}
          json='{"owner":"ada","labels":["bug",5]}'
          shown={[
            { path: ["owner"], text: "Must match pattern." },
            { path: ["labels", "1"], text: "Must be string." },
            { path: [], text: 'Must not have "x".' },
          ]}
        />
      </State>
      <State name="No arguments">
        <FormSample schema={{ type: "object", properties: {}, additionalProperties: false }} />
      </State>
    </>
  );
}
