/** One value of a JSON tree, with its members if it is expanded. */
import { useMemo, useRef, useState } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { Button } from "../button.tsx";
import { ForeignText } from "../foreign-text.tsx";
import { JsonString } from "./json-string.tsx";
import { countMembers, kindOf, type Member, membersOf, type Span } from "./json-text.ts";

const texts = componentTexts.json;

/** Number of members shown at first. */
const BATCH = 50;
/** A text up to this length is expanded at first, down to `OPEN_DEPTH`. */
const OPEN_MAX_CHARS = 4000;
const OPEN_DEPTH = 5;

export interface JsonNodeProps {
  readonly text: string;
  readonly span: Span;
  readonly depth: number;
  readonly name?: string | number;
}

export function JsonNode({ text, span, depth, name }: JsonNodeProps) {
  const kind = kindOf(text, span);
  const isContainer = kind === "object" || kind === "array";
  const [open, setOpen] = useState(
    isContainer && (depth === 0 || (text.length <= OPEN_MAX_CHARS && depth < OPEN_DEPTH)),
  );
  const empty = isContainer && membersOf(text, span).next().done === true;
  const expandable = isContainer && !empty;
  const label = name !== undefined && (
    <>
      <span class={typeof name === "number" ? "json-place" : "json-key"}>
        <ForeignText text={String(name)} />
      </span>
      <span class="json-colon">:</span>
    </>
  );
  return (
    <div
      class="json-node"
      role="treeitem"
      tabIndex={depth === 0 ? 0 : -1}
      aria-level={depth + 1}
      aria-expanded={expandable ? open : undefined}
      data-key={name === undefined ? undefined : JSON.stringify(name)}
      data-start={span.start}
      data-end={span.end}
    >
      {expandable ? (
        <button type="button" class="json-row json-toggle" tabIndex={-1} onClick={() => setOpen(!open)}>
          {label}
          <Summary text={text} span={span} kind={kind} open={open} />
        </button>
      ) : (
        <div class="json-row">
          {label}
          {kind === "string" ? (
            <JsonString json={text.slice(span.start, span.end)} />
          ) : (
            <span class={isContainer ? "json-summary" : `json-${kind}`}>
              {text.slice(span.start, span.end)}
            </span>
          )}
        </div>
      )}
      {open && expandable && <Members text={text} span={span} depth={depth} />}
    </div>
  );
}

function Members({ text, span, depth }: Omit<JsonNodeProps, "name">) {
  const source = useMemo(() => membersOf(text, span), [text, span.start]);
  const found = useRef<{ readonly source: unknown; readonly list: Member[]; ended: boolean }>(undefined);
  if (found.current?.source !== source) found.current = { source, list: [], ended: false };
  const [limit, setLimit] = useState(BATCH);
  const { list } = found.current;
  while (list.length <= limit && !found.current.ended) {
    const { value, done } = source.next();
    if (done) found.current.ended = true;
    else list.push(value);
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: HTML has no element for a group of a tree.
    <div class="json-nodes" role="group">
      {list.slice(0, limit).map((member) => (
        <JsonNode key={member.start} text={text} span={member} depth={depth + 1} name={member.key} />
      ))}
      {list.length > limit && (
        <div class="json-more" role="none">
          <Button size="small" onClick={() => setLimit(limit * 2)}>
            {texts.more(limit)}
          </Button>
        </div>
      )}
    </div>
  );
}

interface SummaryProps {
  readonly text: string;
  readonly span: Span;
  readonly kind: "object" | "array";
  readonly open: boolean;
}

function Summary({ text, span, kind, open }: SummaryProps) {
  const count = useMemo(() => countMembers(text, span), [text, span.start]);
  const [begin, end] = kind === "object" ? "{}" : "[]";
  const description =
    count === undefined
      ? size(span.end - span.start)
      : kind === "object"
        ? texts.keys(count)
        : texts.items(count);
  return (
    <span class="json-summary">
      {open ? "" : `${begin}…${end} `}
      <span class="json-count">{description}</span>
    </span>
  );
}
