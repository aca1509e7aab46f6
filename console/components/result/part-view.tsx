/** Shows one part of a tool result by its type. */
import { useMemo } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { CopyButton } from "../copy-button.tsx";
import { ForeignText } from "../foreign-text.tsx";
import { rootSpan } from "../json/json-text.ts";
import { JsonTree } from "../json-tree.tsx";
import { LongText } from "../long-text.tsx";
import { flatRows } from "./flat-rows.ts";
import { FlatTable } from "./flat-table.tsx";
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
