/** Shows exactly what a client of the endpoint sees, and how many tokens that costs. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Endpoint, Preview } from "../../api/types.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { count, roughly, size } from "../../format.ts";
import { STATES, useList, useResource } from "../../live/resource.ts";
import { address, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { shortReason } from "../servers/server-state.ts";
import { ComparedTools, HiddenTools } from "./seen-tools.tsx";
import "./preview-tab.css";

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
  const { as, and } = address.value.query;
  const people = useList("/users", may("people") ? {} : undefined, {}).value.value ?? [];
  const keys = useList("/api-keys", may("people") ? {} : undefined, {}).value.value ?? [];
  const callers = [
    ...people.map((user) => ({ value: user.uuid, label: user.email })),
    ...keys
      .filter(({ endpoints }) => endpoints === "all" || endpoints?.includes(uuid))
      .map((key) => ({ value: `key:${key.uuid}`, label: texts.key(key.name) })),
  ];
  const nameOf = (caller: string | undefined) =>
    callers.find(({ value }) => value === caller)?.label ?? texts.self;
  const preview = useResource("/endpoints/:uuid/preview", { uuid, as }, STATES);
  return (
    <div class="stack">
      {callers.length > 0 && (
        <div class="preview-callers">
          <SelectField
            label={texts.as}
            none={texts.self}
            value={as ?? ""}
            options={callers}
            onInput={(value) => setQuery({ as: value || undefined })}
          />
          <SelectField
            label={texts.and}
            none={texts.nobody}
            value={and ?? ""}
            options={callers}
            onInput={(value) => setQuery({ and: value || undefined })}
          />
        </div>
      )}
      {and === undefined ? (
        <Ready of={preview}>
          {(found) => (
            <PreviewContent preview={found}>
              <HiddenTools endpoint={uuid} as={as} />
            </PreviewContent>
          )}
        </Ready>
      ) : (
        <ComparedTools endpoint={uuid} callers={[as, and]} names={[nameOf(as), nameOf(and)]} />
      )}
    </div>
  );
}

interface PreviewContentProps {
  readonly preview: Preview;
  /** After the listed tools. */
  readonly children: ComponentChildren;
}

function PreviewContent({ preview, children }: PreviewContentProps) {
  const { total, full, instructions, prompts, resources, templates, unknown } = preview;
  const open = useSignal<string | undefined>(undefined);
  const tools = preview.tools.map(shownTool);
  const one = tools.find(({ name }) => name === open.value);
  return (
    <>
      {preview.refused && <p class="refused">{texts.refused}</p>}
      <p>
        {texts.shown(tools.length, roughly(total.tokens))}
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
      {children}
      <p class="muted">{texts.more(prompts, resources + templates)}</p>
      {unknown.length > 0 && (
        <p class="muted">
          <ForeignText text={texts.unknown(unknown.join(", "))} />
        </p>
      )}
      <Reasons title={texts.missing} rows={preview.missing.map(({ id, reason }) => ({ name: id, reason }))} />
      <Reasons
        title={texts.unavailable}
        rows={preview.unavailable.map(({ server, reason }) => ({
          name: server,
          reason: shortReason(reason, server),
        }))}
      />
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

interface ReasonsProps {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly reason: string }[];
}

function Reasons({ title, rows }: ReasonsProps) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {rows.map(({ name, reason }) => (
          <li key={name}>
            <code>
              <ForeignText text={name} />
            </code>
            : <ForeignText text={reason} />
          </li>
        ))}
      </ul>
    </>
  );
}

function shownTool({ definition, bytes, tokens }: Preview["tools"][number]): ShownTool {
  const { name = "", description = "" } = definition as { name?: string; description?: string };
  return { name, description, bytes, tokens, definition };
}
