/** The person's endpoint: connecting a client to it, its tools, and the person's last calls. */
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { MyEndpoint, RecentCall, ToolRow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { CopyLine } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { duration } from "../../format.ts";
import { CONFIG, STATES, useList, useResource } from "../../live/resource.ts";
import { address, go, setQuery } from "../../navigate.ts";
import { Connect } from "../../parts/connect.tsx";
import { Outcome } from "../../parts/outcome.tsx";
import { may, me } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { meTexts } from "../../texts/me.ts";

const texts = meTexts.endpoints;
const CALLS_MS = 5_000;

export function MyEndpoints() {
  const mine = useList("/me/endpoints", {}, CONFIG);
  return (
    <Ready of={mine}>
      {(all) => {
        const wanted = address.value.query["endpoint"];
        const one = all.find(({ uuid, name }) => uuid === wanted || name === wanted) ?? all[0];
        if (!one) return <p>{texts.none}</p>;
        return (
          <>
            <ConnectSection all={all} one={one} />
            <MyTools key={one.uuid} endpoint={one} />
            <MyCalls />
          </>
        );
      }}
    </Ready>
  );
}

interface ConnectSectionProps {
  readonly all: readonly MyEndpoint[];
  readonly one: MyEndpoint;
}

function ConnectSection({ all, one }: ConnectSectionProps) {
  return (
    <section class="stack-small">
      <h2>{texts.title}</h2>
      {all.length > 1 && (
        <SelectField
          label={texts.endpoint}
          value={one.uuid}
          options={all.map(({ uuid, name, description }) => ({
            value: uuid,
            label: description ? `${name}: ${description}` : name,
          }))}
          onInput={(endpoint) => setQuery({ endpoint })}
        />
      )}
      <CopyLine text={one.url} name={texts.copy} />
      <Connect key={one.uuid} endpoint={one} />
    </section>
  );
}

const TOOLS: readonly Column<ToolRow>[] = [
  {
    id: "name",
    head: texts.tools.columns.name,
    mono: true,
    width: "40%",
    value: ({ serverName = "", name }) => `${serverName}:${name}`,
  },
  {
    id: "description",
    head: texts.tools.columns.description,
    value: ({ description }) => description,
    cell: ({ description }) => <ForeignText text={description ?? ""} />,
  },
];

function MyTools({ endpoint }: { readonly endpoint: MyEndpoint }) {
  const tools = useList(
    "/endpoints/:uuid/tools",
    { uuid: endpoint.uuid, as: me.value?.account?.uuid },
    STATES,
  );
  const open = (query: Readonly<Record<string, string>>) =>
    hrefOf({ page: "try", query: { endpoint: endpoint.uuid, ...query } });
  return (
    <section class="stack-small">
      <h2>{texts.tools.title}</h2>
      <Ready of={tools}>
        {(rows) => (
          <Table
            label={texts.tools.title}
            rows={rows.filter(({ enabled }) => enabled)}
            columns={TOOLS}
            rowKey={({ server, tool }) => `${server} ${tool}`}
            rowName={({ name }) => name}
            search={address.value.query["q"]}
            onSearch={(q) => setQuery({ q })}
            searchLabel={texts.tools.search}
            {...(may("endpoints.try") && {
              onOpen: ({ server, tool }: ToolRow) => go(open({ server, tool })),
            })}
            empty={<p class="padded muted">{texts.tools.none}</p>}
          />
        )}
      </Ready>
      {may("endpoints.try") && (
        <div class="line">
          <Button href={open({})}>{texts.tools.tryIt}</Button>
        </div>
      )}
    </section>
  );
}

const CALLS: readonly Column<RecentCall>[] = [
  {
    id: "at",
    head: texts.calls.columns.at,
    width: "100px",
    time: true,
    value: ({ at }) => at,
    cell: ({ at }) => <Ago at={at} />,
  },
  {
    id: "what",
    head: texts.calls.columns.what,
    mono: true,
    primary: true,
    value: ({ server, tool }) => (server.name ? `${server.name}:${tool}` : tool),
  },
  { id: "outcome", head: texts.calls.columns.outcome, cell: (call) => <Outcome of={call} /> },
  {
    id: "took",
    head: texts.calls.columns.took,
    width: "80px",
    align: "end",
    value: ({ durationMs }) => durationMs,
    cell: ({ durationMs }) => duration(durationMs),
  },
];

function MyCalls() {
  const calls = useResource("/me/calls", { limit: 20 }, { everyMs: CALLS_MS });
  return (
    <section class="stack-small">
      <h2>{texts.calls.title}</h2>
      <Ready of={calls}>
        {({ items }) => (
          <Table
            label={texts.calls.title}
            rows={items}
            columns={CALLS}
            rowKey={({ id }) => String(id)}
            live
            empty={<p class="padded muted">{texts.calls.none}</p>}
          />
        )}
      </Ready>
    </section>
  );
}
