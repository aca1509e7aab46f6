/** The page Servers: the state of each server, and the drawer that adds servers. */
import type { Server } from "../../api/types.ts";
import { Drawer } from "../../components/drawer.tsx";
import { STATES, useList, useResource } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { serverTexts, serverTexts as texts } from "../../texts/servers.ts";
import { ADD_TABS, AddTabs } from "./add-tabs.tsx";
import { SERVER_COLUMNS } from "./server-columns.tsx";
import { ServerDrawer } from "./server-drawer.tsx";
import { ServersSummary } from "./servers-summary.tsx";
import { useServerRows } from "./use-server-rows.ts";
import "./servers.css";

const STATS_MS = 15_000;
const NONE: readonly Server[] = [];

export default function Servers() {
  const servers = useList("/mcp-servers", {}, STATES);
  const usage = useResource("/usage", { range: "1h" }, { everyMs: STATS_MS }).value.value;
  const rows = useServerRows(servers.value.value ?? NONE, usage);
  const { query } = address.value;
  return (
    <ListPage
      page="servers"
      texts={texts}
      of={servers}
      summary={(all) => <ServersSummary servers={all} />}
      rowsOf={() => rows}
      columns={SERVER_COLUMNS["1h"]}
      rowKey={({ server }) => server.uuid}
      rowName={({ server }) => server.name}
      sorting={{ column: "name", descending: false }}
      create={{
        label: texts.add,
        allowed: may("servers.write"),
        query: { add: "paste" },
        dialog: () => (
          <AddDrawer tab={query["add"] ?? ""} onClose={() => setQuery({ add: undefined, find: undefined })} />
        ),
      }}
      drawer={({ server: { uuid } }) => (
        <ServerDrawer
          key={uuid}
          uuid={uuid}
          onClose={() => go({ page: "servers", query: { q: query["q"] } })}
        />
      )}
    />
  );
}

/** The drawer that adds servers. */
function AddDrawer({ tab, onClose }: { readonly tab: string; readonly onClose: () => void }) {
  const active = ADD_TABS.find((one) => one === tab) ?? "paste";
  return (
    <Drawer title={serverTexts.adding.title} onClose={onClose}>
      <AddTabs tab={active} onTab={(add) => setQuery({ add })} onDone={onClose} />
    </Drawer>
  );
}
