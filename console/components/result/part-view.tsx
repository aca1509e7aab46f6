/** Shows one part of a tool result by its type. */
import { useMemo, useState } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { CopyButton } from "../copy-button.tsx";
import { ForeignText } from "../foreign-text.tsx";
import { rootSpan } from "../json/json-text.ts";
import { JsonTree } from "../json-tree.tsx";
import { LongText } from "../long-text.tsx";
import { type Column, Table } from "../table.tsx";
import { visibleText } from "../visible-text.ts";
import { type FlatRow, type FlatRows, flatRows } from "./flat-rows.ts";
import type { ResultPart } from "./result-parts.ts";

const texts = componentTexts.result;

export function PartView({ part }: { readonly part: ResultPart }) {
  switch (part.kind) {
    case "text":
      return <LongText text={part.text} />;
    case "json":
      return <JsonPart raw={part.raw} title={part.structured ? texts.structured : undefined} />;
    case "image":
      return (
        <figure class="result-media">
          <img src={part.url} alt={texts.image(part.type)} />
          <figcaption class="muted small">{`${part.type}, ${size(part.bytes)}`}</figcaption>
        </figure>
      );
    case "audio":
      return (
        <figure class="result-media">
          {/* biome-ignore lint/a11y/useMediaCaption: tools provide no captions. */}
          <audio controls src={part.url} aria-label={texts.audio(part.type)} />
          <figcaption class="muted small">{`${part.type}, ${size(part.bytes)}`}</figcaption>
        </figure>
      );
    case "link":
      return <LinkPart {...part} />;
    case "file":
      return (
        <div class="result-link">
          <a href={part.url} download={part.name}>
            <ForeignText text={texts.save(part.name)} />
          </a>
          <span class="muted small">{[part.type, size(part.bytes)].filter(Boolean).join(", ")}</span>
        </div>
      );
  }
}

function JsonPart({ raw, title }: { readonly raw: string; readonly title: string | undefined }) {
  const rows = useMemo(() => {
    const root = rootSpan(raw);
    return root && flatRows(raw, root);
  }, [raw]);
  return (
    <div class="stack-small">
      {title && <h3>{title}</h3>}
      {rows ? <FlatTable rows={rows} /> : <JsonTree label={title ?? texts.json} raw={raw} />}
    </div>
  );
}

type Link = ResultPart & { readonly kind: "link" };

/** Only http and https addresses become links. They open in a new tab and get no referrer or opener. */
function LinkPart({ uri, name, about }: Link) {
  const web = /^https?:\/\//i.test(uri);
  return (
    <div class="result-link">
      {name && (
        <strong>
          <ForeignText text={name} />
        </strong>
      )}
      {web ? (
        <a href={uri} target="_blank" rel="noopener noreferrer" class="mono">
          <ForeignText text={uri} />
        </a>
      ) : (
        <code>
          <ForeignText text={uri} />
        </code>
      )}
      <CopyButton kind="quiet" text={uri} name={texts.copyLink} />
      {about && (
        <span class="muted result-about">
          <ForeignText text={about} />
        </span>
      )}
    </div>
  );
}

/** A table with at most this many rows needs no search field. */
const MAX_WITHOUT_SEARCH = 12;

function FlatTable({ rows: { columns, numbers, rows } }: { readonly rows: FlatRows }) {
  const [search, setSearch] = useState("");
  const shown = useMemo(
    () =>
      columns.map((name, at): Column<FlatRow> => {
        const isNumber = numbers.has(name);
        return {
          id: name,
          head: visibleText(name),
          cell: ({ values }) => <span title={values.get(name)}>{visibleText(values.get(name) ?? "")}</span>,
          value: ({ values }) => (isNumber ? Number(values.get(name)) : values.get(name)),
          align: isNumber && at > 0 ? "end" : "start",
          ...(at > 5 ? { hideBelow: "medium" } : at > 2 ? { hideBelow: "small" } : {}),
        };
      }),
    [columns, numbers],
  );
  return (
    <Table
      label={componentTexts.result.table}
      rows={rows}
      columns={shown}
      rowKey={({ at }) => String(at)}
      search={search}
      {...(rows.length > MAX_WITHOUT_SEARCH ? { onSearch: setSearch } : {})}
    />
  );
}
