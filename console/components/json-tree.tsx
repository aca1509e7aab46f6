/** JSON to look into. Takes the text that came where there is one (`raw`), so that numbers keep all their digits. */
import { useMemo, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { CopyButton } from "./copy-button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import { JsonNode } from "./json/json-node.tsx";
import { pathText, wholeOf } from "./json/json-text.ts";
import { useTreeKeys } from "./json/use-tree-keys.ts";
import "./json-tree.css";

export type JsonTreeProps = {
  /** Names the tree for screen readers. */
  readonly label: string;
} & ({ readonly raw: string } | { readonly value: unknown });

const texts = componentTexts.json;

export function JsonTree(props: JsonTreeProps) {
  const raw = "raw" in props ? props.raw : undefined;
  const value = "value" in props ? props.value : undefined;
  const text = useMemo(() => raw ?? JSON.stringify(value) ?? "null", [raw, value]);
  const whole = useMemo(() => wholeOf(text), [text]);
  const [at, setAt] = useState<readonly (string | number)[]>([]);
  const [part, setPart] = useState<{ readonly start: number; readonly end: number }>();
  const keys = useTreeKeys((path, start, end) => {
    setAt(path);
    setPart({ start, end });
  });
  if (!whole)
    return (
      <pre class="json-tree json-text">
        <ForeignText text={text} />
      </pre>
    );
  const { start, end } = part && part.end <= text.length ? part : whole;
  return (
    <div class="json-tree">
      <div class="json-nodes" role="tree" aria-label={props.label} {...keys}>
        <JsonNode text={text} span={whole} depth={0} />
      </div>
      <div class="json-bar">
        <code class="json-path" title={pathText(at)}>
          <ForeignText text={pathText(at)} />
        </code>
        <CopyButton kind="quiet" label={texts.copyPath} text={() => pathText(at)} />
        <CopyButton kind="quiet" label={texts.copyValue} text={() => plain(text.slice(start, end))} />
      </div>
    </div>
  );
}

/** A text is copied as it reads, all else as it is written. */
function plain(written: string): string {
  return written.startsWith('"') ? (JSON.parse(written) as string) : written;
}
