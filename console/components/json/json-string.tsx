/** A text in a JSON tree: as it is written while it is short; long ones and those of several lines open. */
import { useState } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";

const SHOWN = 240;
const MOST_OPENED = 200_000;

export function JsonString({ written }: { readonly written: string }) {
  const [open, setOpen] = useState(false);
  const opens = written.length > SHOWN || written.includes("\\n");
  const body = written.slice(1, -1);
  const toggle = opens && (
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
          "<ForeignText text={body.slice(0, SHOWN)} />
          {body.length > SHOWN ? "…" : '"'}
        </span>
        {toggle}
      </>
    );
  const text = JSON.parse(written) as string;
  return (
    <>
      {toggle}
      <pre class="json-string json-long">
        <ForeignText text={text.slice(0, MOST_OPENED)} />
        {text.length > MOST_OPENED && <em class="muted"> {componentTexts.json.cut(size(MOST_OPENED))}</em>}
      </pre>
    </>
  );
}
