/** What is wrong now, each with the way to mend it. Nothing at all where all is well. */
import type { ComponentChildren } from "preact";
import { hrefOf, type Target } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { Attention, AttentionItem, Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Status } from "../../components/status.tsx";
import { may } from "../../session.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { ServerState } from "../servers/state-cell.tsx";

const texts = overviewTexts.attention;
const MOST = 8;
const SHAPES = { error: "bad", warning: "warn", info: "off" } as const;

interface AttentionListProps {
  readonly attention: Attention;
  readonly servers: readonly Server[];
}

export function AttentionList({ attention: { items, counts }, servers }: AttentionListProps) {
  const unreachable = counts !== undefined && counts.endpoints === 0 && counts.servers.all > 0;
  if (items.length === 0 && !unreachable) return null;
  const worst = items[0]?.severity ?? "warning";
  return (
    <section class={`panel attention attention-${worst}`} aria-label={texts.title}>
      <ul>
        {items.slice(0, MOST).map((item) => (
          <li key={`${item.kind} ${item.object?.uuid} ${item.field}`} class="attention-row">
            <Item item={item} server={servers.find(({ uuid }) => uuid === item.object?.uuid)} />
          </li>
        ))}
        {unreachable && (
          <li class="attention-row">
            <Status state="warn" word={texts.noEndpoint} />
            {may("endpoints.write") && (
              <Mend to={{ page: "overview", query: { start: "1" } }} name={texts.makeEndpoint} />
            )}
          </li>
        )}
      </ul>
      {items.length > MOST && (
        <p class="attention-row muted">
          <a href={hrefOf({ page: "servers" })}>{texts.more(items.length - MOST)}</a>
        </p>
      )}
    </section>
  );
}

interface ItemProps {
  readonly item: AttentionItem;
  readonly server: Server | undefined;
}

function Item({ item, server }: ItemProps) {
  const { kind, severity, object, count = 0, reason = "", until, field = "" } = item;
  const said = (word: string, mend?: ComponentChildren) => (
    <>
      {object && <Name object={object} />}
      <Status state={SHAPES[severity]} word={word} />
      {mend}
    </>
  );
  switch (kind) {
    case "server.failed":
    case "server.misconfigured":
    case "server.login":
      return (
        <>
          {object && <Name object={object} />}
          {server ? <ServerState server={server} /> : <Status state="bad" word={reason} />}
        </>
      );
    case "server.secret":
      return said(texts.secret(field), <Mend to={toServer(object, "settings")} name={texts.open} />);
    case "tools.changed":
      return said(
        texts.changed(count),
        <Mend to={{ page: "tools", query: { changed: "1" } }} name={texts.look} />,
      );
    case "endpoint.public":
      return said(texts.public, <Mend to={{ page: "endpoints", id: object?.uuid }} name={texts.open} />);
    case "store.away":
      return said(texts.store(reason));
    case "audit.fault":
      return said(texts.auditFault(reason));
    case "audit.lost":
      return said(texts.audit(count));
    case "key.expiring":
      return (
        <>
          {said(texts.key)}
          {until !== undefined && (
            <span class="muted">
              <Ago at={until} />
            </span>
          )}
          <Mend to={{ page: "keys", id: object?.uuid }} name={texts.open} />
        </>
      );
    case "approvals.waiting":
      return said(texts.approvals(count), <Mend to={{ page: "requests" }} name={texts.decide} />);
    case "requests.pending":
      return said(texts.requests(count), <Mend to={{ page: "requests" }} name={texts.decide} />);
  }
}

type Named = NonNullable<AttentionItem["object"]>;
const PAGES = { server: "servers", endpoint: "endpoints", "api-key": "keys" } as const;

function Name({ object: { kind, uuid, name } }: { readonly object: Named }) {
  const page = PAGES[kind as keyof typeof PAGES];
  return (
    <a class="attention-name mono cut" href={hrefOf({ page, id: uuid })}>
      <bdi>{name}</bdi>
    </a>
  );
}

function toServer(object: Named | undefined, tab: string): Target {
  return { page: "servers", id: object?.uuid, query: { tab } };
}

function Mend({ to, name }: { readonly to: Target; readonly name: string }) {
  return (
    <span class="push">
      <Button size="small" href={hrefOf(to)}>
        {name}
      </Button>
    </span>
  );
}
