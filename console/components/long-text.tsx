/** Text of others over many lines, as it stands. What is long is cut visibly, and opens. */
import { useState } from "preact/hooks";
import { size } from "../format.ts";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./long-text.css";

const SHOWN = 2000;
/** More would stop the page. */
const MOST = 500_000;

export function LongText({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > SHOWN * 1.2;
  return (
    <div class="long-text">
      <pre class="long-text-lines">
        <ForeignText text={long && !open ? text.slice(0, SHOWN) : text.slice(0, MOST)} />
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
        {open && text.length > MOST && <span class="muted">{componentTexts.json.cut(size(MOST))}</span>}
        <CopyButton kind="quiet" text={text} />
      </div>
    </div>
  );
}
