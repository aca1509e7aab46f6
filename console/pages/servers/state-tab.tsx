/** Shows the state of a server, the reason, and the namespaces that use it. */
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { Namespace, Server } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { type KeyValue, KeyValues } from "../../components/key-values.tsx";
import { count, duration, percent } from "../../format.ts";
import { CONFIG, useList, useResource } from "../../live/resource.ts";
import { UsageCharts } from "../../parts/usage-charts.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { ConnectionHistory } from "./connection-history.tsx";
import { useLoginRows } from "./login-rows.tsx";
import { ReplicaStates } from "./replica-states.tsx";
import { commandOrUrl, shownState } from "./server-state.ts";

const texts = serverTexts.fields;
const STATS_MS = 15_000;

export function StateTab({ server }: { readonly server: Server }) {
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const usage = useResource("/usage", { range: "1h", server: server.uuid }, { everyMs: STATS_MS }).value
    .value;
  const figures = usage?.totals;
  const logins = useLoginRows(server);
  const { status } = server;
  const reached = commandOrUrl(server);
  const { reason } = shownState(server);
  const usedIn = namespaces.filter(({ servers }) => servers.some((one) => one.server === server.uuid));
  const items: (KeyValue | false)[] = [
    reason !== undefined && { key: texts.reason, value: <ForeignText text={reason} /> },
    status.lastFailure !== undefined && { key: texts.lastTried, value: texts.untried },
    status.retryAfterMs !== undefined && {
      key: texts.next,
      value: serverTexts.retry(status.retryAfterMs),
    },
    ...logins,
    { key: texts.reached, value: <ForeignText text={reached} />, mono: true, copy: reached },
    server.cwd !== undefined && { key: texts.folder, value: <ForeignText text={server.cwd} />, mono: true },
    status.touches !== undefined && { key: texts.touches, value: <ForeignText text={status.touches} /> },
    status.instances !== undefined && { key: texts.instances, value: texts.inNamespace(status.instances) },
    { key: texts.namespaces, value: <NamespaceLinks namespaces={usedIn} /> },
    {
      key: texts.calls,
      value:
        figures === undefined || figures.calls === 0
          ? texts.noCalls
          : texts.figures(
              count(figures.calls),
              percent(figures.errors, figures.calls),
              figures.p95Ms === undefined ? undefined : `≈ ${duration(figures.p95Ms)}`,
            ),
    },
    server.description !== "" && { key: texts.description, value: <ForeignText text={server.description} /> },
    server.labels.length > 0 && { key: texts.labels, value: <ForeignText text={server.labels.join(", ")} /> },
    {
      key: texts.managedBy,
      value: server.managedBy === "api" ? texts.byApi : <ForeignText text={server.managedBy} />,
    },
    {
      key: texts.changed,
      value: (
        <>
          <Ago at={server.updatedAt} />, {texts.revision(server.revision)}
        </>
      ),
    },
  ];
  return (
    <div class="stack">
      <KeyValues items={items.filter((item) => item !== false)} />
      <UsageCharts filter={{ server: server.uuid }} calls={{ server: server.name }} />
      <ReplicaStates server={server} />
      <ConnectionHistory server={server} />
    </div>
  );
}

function NamespaceLinks({ namespaces }: { readonly namespaces: readonly Namespace[] }) {
  if (namespaces.length === 0) return <span class="muted">{texts.noNamespace}</span>;
  return (
    <span class="line">
      {namespaces.map(({ uuid, name }) => (
        <a key={uuid} class="mono" href={hrefOf({ page: "namespaces", id: uuid })}>
          <bdi>{name}</bdi>
        </a>
      ))}
    </span>
  );
}
