/** Lists the places in the texts of a server that speak for an attack. */
import type { Sign } from "../api/types.ts";
import { ForeignText } from "../components/foreign-text.tsx";
import { Status } from "../components/status.tsx";
import { toolsTexts } from "../texts/tools.ts";

const texts = toolsTexts.signs;

export function SignList({ signs }: { readonly signs: readonly Sign[] }) {
  if (signs.length === 0) return null;
  return (
    <ul class="stack-small" aria-label={texts.label}>
      {signs.map(({ sign, severity, path, start, excerpt }) => (
        <li key={`${sign} ${path} ${start}`}>
          <Status state={severity === "hard" ? "bad" : "warn"} word={texts.meanings[sign]} />
          <p>
            <code>
              <ForeignText text={path} />
            </code>
            {": "}
            <ForeignText text={excerpt} />
          </p>
        </li>
      ))}
    </ul>
  );
}
