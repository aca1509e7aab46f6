/** The page Endpoints: the addresses that clients connect to. */
import { CONFIG, useList, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { ListPage } from "../../shell/list-page.tsx";
import { endpointsTexts as texts } from "../../texts/endpoints.ts";
import { endpointColumns } from "./endpoint-columns.tsx";
import { EndpointDrawer } from "./endpoint-drawer.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";
import { useEndpointRow } from "./use-endpoint-row.ts";

const STATS_MS = 15_000;

export default function Endpoints() {
  const usage = useResource("/usage", { range: "1h" }, { everyMs: STATS_MS }).value.value;
  const rowOf = useEndpointRow(usage);
  return (
    <ListPage
      page="endpoints"
      texts={texts}
      of={useList("/endpoints", {}, CONFIG)}
      summary={(all) =>
        texts.summary(
          all.length,
          all.filter(({ disabled }) => disabled).length,
          all.filter(({ access }) => access?.public).length,
        )
      }
      rowsOf={(all) => all.map(rowOf)}
      columns={endpointColumns("1h")}
      rowKey={({ endpoint }) => endpoint.uuid}
      rowName={({ endpoint }) => endpoint.name}
      create={{
        label: texts.create,
        allowed: may("endpoints.write"),
        dialog: (onClose) => <NewEndpoint onClose={onClose} />,
      }}
      drawer={({ endpoint }) => <EndpointDrawer key={endpoint.uuid} endpoint={endpoint} />}
    />
  );
}
