/** The state of a server at each replica. */
import type { ConnectionStatus, Server } from "../../api/types.ts";
import { Status, type StatusProps } from "../../components/status.tsx";
import { replicasTexts } from "../../texts/replicas.ts";
import { serverTexts } from "../../texts/servers.ts";
import { shownState } from "./server-state.ts";

type Row = NonNullable<ConnectionStatus["replicas"]>[number];

export function ReplicaStates({ server }: { readonly server: Server }) {
  const rows = server.status.replicas ?? [];
  if (rows.length < 2) return null;
  return (
    <section class="stack-small">
      <h3>{replicasTexts.title}</h3>
      <ul class="replica-states">
        {rows.map((row) => (
          <li key={row.replica}>
            <span class="mono">{row.replica}</span>
            <Status {...statusOf(server, row)} />
            {row.connected && <span class="muted">{serverTexts.fields.inNamespace(row.instances ?? 1)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function statusOf(server: Server, { missing, ...row }: Row): StatusProps {
  if (missing !== undefined) return { state: "warn", word: replicasTexts.absent[missing] };
  const { state = "closed", connected = false, toolCount = 0 } = row;
  const { reason, ...shown } = shownState({ ...server, status: { ...row, state, connected, toolCount } });
  return { ...shown, reason };
}
