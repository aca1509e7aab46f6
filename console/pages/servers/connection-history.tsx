/** Lists the latest connection events of a server. */
import { Ago } from "../../ago.tsx";
import type { Server, StatusEntry } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type State, StatusShape } from "../../components/status.tsx";
import { STATES, useResource } from "../../live/resource.ts";
import { serverTexts } from "../../texts/servers.ts";

const texts = serverTexts.happened;
const SHAPE_STATES = {
  connecting: "off",
  started: "off",
  connected: "ok",
  failed: "bad",
  closed: "off",
} as const satisfies Record<StatusEntry["state"], State>;

export function ConnectionHistory({ server }: { readonly server: Server }) {
  const entries =
    useResource("/mcp-servers/:uuid/history", { uuid: server.uuid }, STATES).value.value?.items ?? [];
  if (entries.length === 0) return null;
  const failures = entries.filter(({ state }) => state === "failed");
  const oldest = failures.at(-1);
  // Attempts that failed alike look alike: the last one says it, the others are counted.
  const begin = entries.findIndex(({ state }) => state === "connecting") + 1;
  const last = failures.length > 1 && begin > 0 ? begin : entries.length;
  return (
    <section class="stack-small">
      <h3>{texts.title}</h3>
      {failures.length > 1 && oldest && (
        <p>
          {texts.failures(failures.length)} <Ago at={oldest.at} />
        </p>
      )}
      <Entries entries={entries.slice(0, last)} />
      {last < entries.length && (
        <details>
          <summary>{texts.earlier(entries.length - last)}</summary>
          <Entries entries={entries.slice(last)} />
        </details>
      )}
    </section>
  );
}

function Entries({ entries }: { readonly entries: readonly StatusEntry[] }) {
  return (
    <ol class="happened">
      {entries.map(({ at, state, reason, pid, replica }, index) => (
        <li key={`${at} ${index}`}>
          <span class="faint small">
            <Ago at={at} />
          </span>
          <StatusShape state={SHAPE_STATES[state]} />
          <span>
            {replica !== undefined && <span class="mono faint">{replica} </span>}
            {texts.states[state]} {pid !== undefined && <span class="faint">{texts.pid(pid)}</span>}
            {reason !== undefined && (
              <span class="muted">
                {" "}
                <ForeignText text={reason} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
