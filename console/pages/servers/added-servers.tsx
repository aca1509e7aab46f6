/** Lists the servers that were just added, with the result of the first connection. */
import { hrefOf } from "../../address.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { address } from "../../navigate.ts";
import { serverTexts } from "../../texts/servers.ts";
import { shownState } from "./server-state.ts";
import type { AddedServer, AddServersState } from "./use-add-servers.ts";

const texts = serverTexts.adding;

export function AddedServers({
  adding,
  onDone,
}: {
  readonly adding: AddServersState;
  readonly onDone: () => void;
}) {
  const { added = [], warnings } = adding;
  return (
    <div class="stack">
      <ul class="found" aria-live="polite">
        {added.map((one) => (
          <li key={one.uuid}>
            <a class="mono" href={hrefOf({ page: "servers", id: one.uuid })}>
              <bdi>{one.name}</bdi>
            </a>
            <ConnectionResult added={one} />
          </li>
        ))}
      </ul>
      {warnings.length > 0 && (
        <div class="note-warn">
          {texts.warnings}: <ForeignText text={warnings.join("; ")} />
        </div>
      )}
      <div class="line">
        <Button kind="primary" onClick={onDone}>
          {address.value.page === "overview" ? texts.goOn : texts.done}
        </Button>
      </div>
    </div>
  );
}

function ConnectionResult({ added: { name, connection } }: { readonly added: AddedServer }) {
  if (!connection) return <Status state="busy" word={texts.trying} />;
  if (connection.connected) return <Status state="ok" word={texts.works(connection.toolCount)} />;
  return <Status {...shownState({ name, status: connection })} />;
}
