/**
 * A JSON viewer that folds. Takes the received text if there is one (`raw`), so that long numbers keep all
 * digits.
 */
import { useMemo, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { CopyButton } from "./copy-button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import { JsonNode } from "./json/json-node.tsx";
import { pathText, rootSpan } from "./json/json-text.ts";
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
  const root = useMemo(() => rootSpan(text), [text]);
  const [path, setPath] = useState<readonly (string | number)[]>([]);
  const [selected, setSelected] = useState<{ readonly start: number; readonly end: number }>();
  const keys = useTreeKeys((focused, start, end) => {
    setPath(focused);
    setSelected({ start, end });
  });
  if (!root)
    return (
      <pre class="json-tree json-text">
        <ForeignText text={text} />
      </pre>
    );
  const { start, end } = selected && selected.end <= text.length ? selected : root;
  return (
    <div class="json-tree">
      <div class="json-nodes" role="tree" aria-label={props.label} {...keys}>
        <JsonNode text={text} span={root} depth={0} />
      </div>
      <div class="json-bar">
        <code class="json-path" title={pathText(path)}>
          <ForeignText text={pathText(path)} />
        </code>
        <CopyButton kind="quiet" label={texts.copyPath} text={() => pathText(path)} />
        <CopyButton kind="quiet" label={texts.copyValue} text={() => copyableText(text.slice(start, end))} />
      </div>
    </div>
  );
}

/** Returns the content of a JSON string, and any other value as its JSON text. */
function copyableText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}
