/** Shows the difference of two texts line by line, or of two JSON values path by path or as text. */
import { useMemo, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { diffLines, type LineChange } from "./diff/diff-lines.ts";
import { diffValues, type ValueChange } from "./diff/diff-values.ts";
import { diffWords, type WordPart } from "./diff/diff-words.ts";
import { foldLines, type LineBlock } from "./diff/fold.ts";
import { ForeignText } from "./foreign-text.tsx";
import { pathText } from "./json/json-text.ts";
import "./diff.css";

export interface DiffProps {
  /** Two strings are compared as texts, anything else as JSON values. undefined: the value does not exist. */
  readonly before: unknown;
  readonly after: unknown;
}

const texts = componentTexts.diff;

export function Diff({ before, after }: DiffProps) {
  const [asText, setAsText] = useState(false);
  if (typeof before === "string" && typeof after === "string")
    return <LineDiff before={before} after={after} />;
  return (
    <div class="stack-small">
      <div class="line">
        <Button size="small" pressed={!asText} onClick={() => setAsText(false)}>
          {texts.changes}
        </Button>
        <Button size="small" pressed={asText} onClick={() => setAsText(true)}>
          {texts.text}
        </Button>
      </div>
      {asText ? (
        <LineDiff before={indentedJson(before)} after={indentedJson(after)} />
      ) : (
        <ValueDiff before={before} after={after} />
      )}
    </div>
  );
}

function LineDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const blocks = useMemo(() => foldLines(diffLines(before, after)), [before, after]);
  if (blocks.every(({ folded }) => folded)) return <p class="muted">{texts.same}</p>;
  return (
    <div class="diff">
      {blocks.map((block, at) => (
        <DiffBlock key={at} block={block} />
      ))}
    </div>
  );
}

function DiffBlock({ block: { folded, lines } }: { readonly block: LineBlock }) {
  const [open, setOpen] = useState(!folded);
  if (!open)
    return (
      <button type="button" class="diff-fold" onClick={() => setOpen(true)}>
        {texts.folded(lines.length)}
      </button>
    );
  return (
    <>
      {lines.map((line) => (
        <DiffLine key={`${line.before}-${line.after}`} line={line} />
      ))}
    </>
  );
}

function DiffLine({ line: { kind, text, before, after } }: { readonly line: LineChange }) {
  const content = <ForeignText text={text} />;
  return (
    <div class={`diff-line diff-${kind}`}>
      <span class="diff-number" aria-hidden="true">
        {before}
      </span>
      <span class="diff-number" aria-hidden="true">
        {after}
      </span>
      {kind === "removed" ? (
        <del>{content}</del>
      ) : kind === "added" ? (
        <ins>{content}</ins>
      ) : (
        <span>{content}</span>
      )}
    </div>
  );
}

function ValueDiff({ before, after }: DiffProps) {
  const changes = useMemo(() => diffValues(before, after), [before, after]);
  if (changes.length === 0) return <p class="muted">{texts.same}</p>;
  return (
    <ul class="diff diff-values">
      {changes.map((change, at) => (
        <ChangedValue
          key={at}
          change={change}
          samePath={pathText(change.path) === pathText(changes[at - 1]?.path ?? ["\0"])}
        />
      ))}
    </ul>
  );
}

interface ChangedValueProps {
  readonly change: ValueChange;
  /** The entry before has the same path, so it is not shown again. */
  readonly samePath: boolean;
}

function ChangedValue({ change, samePath }: ChangedValueProps) {
  const { path, before, after } = change;
  const long = [before, after].some((value) => typeof value === "string" && value.includes("\n"));
  const words =
    typeof before === "string" && typeof after === "string"
      ? diffWords(indentedJson(before), indentedJson(after))
      : undefined;
  return (
    <li class={`diff-value${samePath ? " diff-again" : ""}`}>
      <div class={samePath ? "for-screen-readers" : "diff-path"}>
        <ForeignText text={path.length === 0 ? texts.whole : pathText(path)} />
      </div>
      {long && typeof before === "string" && typeof after === "string" ? (
        <LineDiff before={before} after={after} />
      ) : (
        <>
          {"before" in change && <Side kind="removed" value={before} words={words?.[0]} />}
          {"after" in change && <Side kind="added" value={after} words={words?.[1]} />}
        </>
      )}
    </li>
  );
}

interface SideProps {
  readonly kind: "removed" | "added";
  readonly value: unknown;
  /** The same text in parts, if only some of its words differ. */
  readonly words: readonly WordPart[] | undefined;
}

function Side({ kind, value, words }: SideProps) {
  const content = words ? (
    words.map(({ text, changed }, at) =>
      changed ? (
        <mark key={at} class="diff-word">
          <ForeignText text={text} />
        </mark>
      ) : (
        <ForeignText key={at} text={text} />
      ),
    )
  ) : (
    <ForeignText text={indentedJson(value)} />
  );
  return (
    <div class={`diff-line diff-${kind}`}>
      {kind === "removed" ? <del>{content}</del> : <ins>{content}</ins>}
    </div>
  );
}

function indentedJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
