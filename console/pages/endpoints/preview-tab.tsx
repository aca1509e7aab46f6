/** Shows exactly what a client of the endpoint sees, and how many tokens that costs. */
import { useSignal } from "@preact/signals";
import type { Endpoint, Preview } from "../../api/types.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count, roughly, size } from "../../format.ts";
import { STATES, useList, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";

const texts = endpointsTexts.preview;

interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly bytes: number;
  readonly tokens: number;
  readonly definition: unknown;
}

const COLUMNS: readonly Column<ShownTool>[] = [
  { id: "name", head: texts.columns.name, mono: true, value: ({ name }) => name },
  {
    id: "description",
    head: texts.columns.description,
    hideBelow: "small",
    value: ({ description }) => description,
  },
  {
    id: "bytes",
    head: texts.columns.bytes,
    align: "end",
    width: "80px",
    hideBelow: "small",
    value: ({ bytes }) => bytes,
    cell: ({ bytes }) => size(bytes),
  },
  {
    id: "tokens",
    head: texts.columns.tokens,
    align: "end",
    width: "80px",
    value: ({ tokens }) => tokens,
    cell: ({ tokens }) => count(tokens),
  },
];

export function PreviewTab({ endpoint: { uuid } }: { readonly endpoint: Endpoint }) {
  const as = useSignal("");
  const people = useList("/users", may("people") ? {} : undefined, {}).value.value ?? [];
  const preview = useResource("/endpoints/:uuid/preview", { uuid, as: as.value || undefined }, STATES);
  return (
    <div class="stack">
      {people.length > 0 && (
        <SelectField
          label={texts.as}
          none={texts.self}
          value={as.value}
          options={people.map((user) => ({ value: user.uuid, label: user.email }))}
          onInput={(value) => (as.value = value)}
        />
      )}
      <Ready of={preview}>{(found) => <PreviewContent preview={found} />}</Ready>
    </div>
  );
}

function PreviewContent({ preview }: { readonly preview: Preview }) {
  const { total, full, instructions, prompts, resources, templates, unknown, unavailable } = preview;
  const open = useSignal<string | undefined>(undefined);
  const tools = preview.tools.map(shownTool);
  const one = tools.find(({ name }) => name === open.value);
  return (
    <>
      {preview.refused && <p class="refused">{texts.refused}</p>}
      <p>
        {texts.shown(roughly(total.tokens))}
        {full.tokens > total.tokens && ` ${texts.full(roughly(full.tokens), full.tools)}`}
      </p>
      <h3>{texts.tools}</h3>
      <Table
        label={texts.tools}
        rows={tools}
        columns={COLUMNS}
        rowKey={({ name }) => name}
        onOpen={({ name }) => (open.value = name)}
        open={open.value}
      />
      {one && (
        <Dialog open title={one.name} size="wide" onClose={() => (open.value = undefined)}>
          <JsonTree label={one.name} value={one.definition} />
        </Dialog>
      )}
      <p class="muted">{texts.more(prompts, resources + templates)}</p>
      {unknown.length > 0 && (
        <p class="muted">
          <ForeignText text={texts.unknown(unknown.join(", "))} />
        </p>
      )}
      {unavailable.length > 0 && (
        <>
          <h3>{texts.unavailable}</h3>
          <ul>
            {unavailable.map(({ server, reason }) => (
              <li key={server}>
                <code>
                  <ForeignText text={server} />
                </code>{" "}
                <ForeignText text={reason} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{texts.instructions}</h3>
      {instructions.text ? (
        <pre class="wrapped">
          <ForeignText text={instructions.text} />
        </pre>
      ) : (
        <p class="muted">{texts.noInstructions}</p>
      )}
    </>
  );
}

function shownTool({ definition, bytes, tokens }: Preview["tools"][number]): ShownTool {
  const { name = "", description = "" } = definition as { name?: string; description?: string };
  return { name, description, bytes, tokens, definition };
}
