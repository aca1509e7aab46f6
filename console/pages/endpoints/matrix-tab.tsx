/** People by tools of an endpoint: who may call what, and the rule that decides. */
import { useSignal } from "@preact/signals";
import type { Endpoint, PolicyMatrix } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { TextField } from "../../components/text-field.tsx";
import { visibleText } from "../../components/visible-text.ts";
import { CONFIG, useResource } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";
import { policyTexts } from "../../texts/policy.ts";
import "./matrix-tab.css";

const texts = policyTexts.matrix;
const MAX_TOOLS = 300;

export function MatrixTab({ endpoint: { uuid } }: { readonly endpoint: Endpoint }) {
  const matrix = useResource("/endpoints/:uuid/matrix", { uuid }, CONFIG);
  return <Ready of={matrix}>{(found) => <Matrix matrix={found} />}</Ready>;
}

function Matrix({ matrix: { tools, people, verdicts, more } }: { readonly matrix: PolicyMatrix }) {
  const q = useSignal("");
  const chosen = useSignal<{ readonly who: string; readonly tool: string; readonly at: number } | undefined>(
    undefined,
  );
  if (people.length === 0) return <p class="muted">{texts.nobody}</p>;
  if (tools.length === 0) return <p class="muted">{texts.none}</p>;
  const named = tools.map(({ server, name }, at) => ({ at, name: `${server.name}:${name}` }));
  const found = named.filter(({ name }) => name.toLowerCase().includes(q.value.toLowerCase()));
  const shown = found.slice(0, MAX_TOOLS);
  const verdict = chosen.value && verdicts[chosen.value.at];
  return (
    <div class="stack">
      <p class="muted">{texts.text}</p>
      <TextField label={texts.search} type="search" value={q.value} onInput={(value) => (q.value = value)} />
      <Legend />
      <p class="matrix-because" role="status">
        {verdict && chosen.value ? (
          <>
            <ForeignText text={texts.chosen(chosen.value.who, chosen.value.tool)} />:{" "}
            <strong>{texts.effects[verdict.effect]}</strong>. <ForeignText text={verdict.because} />
          </>
        ) : (
          <span class="muted">{texts.choose}</span>
        )}
      </p>
      <div class="matrix-frame">
        <table class="matrix" aria-label={texts.tab}>
          <thead>
            <tr>
              <th scope="col">{policyTexts.fields.tools}</th>
              {people.map(({ uuid, name }) => (
                <th key={uuid} scope="col" title={name}>
                  <bdi>{name.split("@")[0]}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ at, name: tool }) => (
              <tr key={tool}>
                <th scope="row" class="mono">
                  <ForeignText text={tool} />
                </th>
                {people.map(({ uuid, name: who, row }) => {
                  const number = row[at] ?? 0;
                  const cell = verdicts[number];
                  if (!cell) return <td key={uuid} />;
                  return (
                    <td key={uuid}>
                      <button
                        type="button"
                        class={`matrix-cell matrix-${cell.effect}`}
                        title={visibleText(cell.because)}
                        aria-label={visibleText(`${texts.chosen(who, tool)}: ${texts.effects[cell.effect]}`)}
                        onClick={() => (chosen.value = { who, tool, at: number })}
                      >
                        {texts.signs[cell.effect]}
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > shown.length && <p class="muted">{texts.moreTools(found.length - shown.length)}</p>}
      {more > 0 && <p class="muted">{texts.more(more)}</p>}
    </div>
  );
}

const EFFECTS = ["allow", "ask", "deny"] as const;

function Legend() {
  return (
    <ul class="matrix-legend small">
      {EFFECTS.map((effect) => (
        <li key={effect}>
          <span class={`matrix-sign matrix-${effect}`} aria-hidden="true">
            {texts.signs[effect]}
          </span>{" "}
          {texts.effects[effect]}
        </li>
      ))}
    </ul>
  );
}
