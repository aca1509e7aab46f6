/** The drawer of a replica. */
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { Replica } from "../../api/types.ts";
import { Drawer } from "../../components/drawer.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Status } from "../../components/status.tsx";
import { count, percent } from "../../format.ts";
import { address, go } from "../../navigate.ts";
import { may } from "../../session.ts";
import { replicasTexts as texts } from "../../texts/replicas.ts";
import { stateOf } from "./replica-state.ts";

const { columns } = texts;

export function ReplicaDrawer({ replica }: { readonly replica: Replica }) {
  const { id, address: at = texts.noAddress, version, since, lastSeen, forwarded, lag } = replica;
  return (
    <Drawer title={id} onClose={() => go({ page: "replicas", query: address.value.query })}>
      <div class="stack">
        <KeyValues
          items={[
            { key: columns.state, value: <Status {...stateOf(replica)} /> },
            { key: columns.address, value: at, mono: true, copy: at },
            { key: columns.version, value: version },
            { key: columns.since, value: <Ago at={since} /> },
            { key: columns.seen, value: <Ago at={lastSeen} /> },
            { key: columns.sessions, value: count(replica.sessions) },
            { key: columns.processes, value: count(replica.processes) },
            { key: columns.forwardedTitle, value: percent(forwarded, 1) },
            { key: columns.lag, value: texts.lag(lag) },
          ]}
        />
        {may("sessions") && (
          <p>
            <a href={hrefOf({ page: "sessions", query: { q: id } })}>{texts.sessions}</a>
          </p>
        )}
        <p>
          <a href={hrefOf({ page: "traffic", query: { replica: id } })}>{texts.calls}</a>
        </p>
      </div>
    </Drawer>
  );
}
