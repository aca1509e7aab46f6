/** Shows a failed call: the error, the reason, and whether to retry. */
import { duration } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";
import { StatusShape } from "../status.tsx";
import type { ResultError } from "./result-parts.ts";

const texts = componentTexts.result;

export function ResultFailure({ error }: { readonly error: ResultError }) {
  const { code, text, hint, retryAfterMs, problems } = error;
  return (
    <div class="result-failure" role="alert">
      <div class="result-failure-head">
        <StatusShape state="bad" />
        <strong>{texts.failed}</strong>
        {code && <code>{code}</code>}
      </div>
      <div class="result-failure-text">
        <ForeignText text={text || texts.noWords} />
      </div>
      {problems.length > 0 && (
        <ul class="result-problems">
          {problems.map((problem) => (
            <li key={problem}>
              <ForeignText text={problem} />
            </li>
          ))}
        </ul>
      )}
      {hint === "retry" && <div>{texts.retry}</div>}
      {hint === "retryLater" && <div>{texts.retryLater(duration(retryAfterMs ?? 0))}</div>}
    </div>
  );
}
