/** A string in a JSON tree. Long strings and strings with line breaks can be expanded. */
import { useState } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";

const PREVIEW_CHARS = 240;
const MAX_CHARS = 200_000;

export function JsonString({ json }: { readonly json: string }) {
  const [open, setOpen] = useState(false);
  const expandable = json.length > PREVIEW_CHARS || json.includes("\\n");
  const body = json.slice(1, -1);
  const toggle = expandable && (
    <button
      type="button"
      class="json-open"
      tabIndex={-1}
      aria-expanded={open}
      onClick={(event) => {
        event.stopPropagation();
        setOpen(!open);
      }}
    >
      {open ? componentTexts.json.fold : componentTexts.json.unfold(size(body.length))}
    </button>
  );
  if (!open)
    return (
      <>
        <span class="json-string">
          "<ForeignText text={body.slice(0, PREVIEW_CHARS)} />
          {body.length > PREVIEW_CHARS ? "…" : '"'}
        </span>
        {toggle}
      </>
    );
  const text = JSON.parse(json) as string;
  return (
    <>
      {toggle}
      <pre class="json-string json-long">
        <ForeignText text={text.slice(0, MAX_CHARS)} />
        {text.length > MAX_CHARS && <em class="muted"> {componentTexts.json.cut(size(MAX_CHARS))}</em>}
      </pre>
    </>
  );
}
