/** Shows the result of a tool, each part by its type, or the received JSON. */
import { useMemo, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { JsonTree } from "./json-tree.tsx";
import { PartView } from "./result/part-view.tsx";
import { ResultFailure } from "./result/result-failure.tsx";
import { readResult } from "./result/result-parts.ts";
import "./result-view.css";

export interface ResultViewProps {
  /** The JSON of the result as received: `{"content": […], …}`. */
  readonly raw: string;
}

const texts = componentTexts.result;

export function ResultView({ raw }: ResultViewProps) {
  const [asJson, setAsJson] = useState(false);
  const { parts, error } = useMemo(() => readResult(raw), [raw]);
  return (
    <div class="result">
      <fieldset class="result-bar" aria-label={texts.view}>
        <Button size="small" pressed={!asJson} onClick={() => setAsJson(false)}>
          {texts.asResult}
        </Button>
        <Button size="small" pressed={asJson} onClick={() => setAsJson(true)}>
          {texts.asJson}
        </Button>
      </fieldset>
      {asJson ? (
        <JsonTree label={texts.whole} raw={raw} />
      ) : (
        <>
          {error && <ResultFailure error={error} />}
          {parts.map((part, at) => (
            <PartView key={at} part={part} />
          ))}
          {!error && parts.length === 0 && <p class="muted">{texts.empty}</p>}
        </>
      )}
    </div>
  );
}
