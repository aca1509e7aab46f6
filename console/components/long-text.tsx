/** Shows untrusted text of several lines. A long text is cut with an ellipsis and can be opened. */
import { useState } from "preact/hooks";
import { size } from "../format.ts";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./long-text.css";

const PREVIEW_CHARS = 2000;
/** More text would freeze the page. */
const MAX_CHARS = 500_000;

export function LongText({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > PREVIEW_CHARS * 1.2;
  return (
    <div class="long-text">
      <pre class="long-text-lines">
        <ForeignText text={long && !open ? text.slice(0, PREVIEW_CHARS) : text.slice(0, MAX_CHARS)} />
        {long && !open && "…"}
      </pre>
      <div class="long-text-bar">
        {long && (
          <span class="long-text-open">
            <Button size="small" onClick={() => setOpen(!open)}>
              {open ? componentTexts.json.fold : componentTexts.json.unfold(size(text.length))}
            </Button>
          </span>
        )}
        {open && text.length > MAX_CHARS && (
          <span class="muted">{componentTexts.json.cut(size(MAX_CHARS))}</span>
        )}
        <CopyButton kind="quiet" text={text} />
      </div>
    </div>
  );
}
