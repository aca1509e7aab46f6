/** Lists current problems, each with a link to the page that fixes it. Renders nothing if there are none. */
import { hrefOf, type Target } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { Attention, AttentionItem, Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Status } from "../../components/status.tsx";
import { may } from "../../session.ts";
import { overviewTexts } from "../../texts/overview.ts";
import { requestsTexts } from "../../texts/requests.ts";
import { serverTexts } from "../../texts/servers.ts";
import { shellTexts } from "../../texts/shell.ts";
import { ServerState } from "../servers/state-cell.tsx";
import { SERVER_STATES, shownItems } from "./attention-items.ts";

const texts = overviewTexts.attention;
const STATES = { error: "bad", warning: "warn", info: "off" } as const;

interface AttentionListProps {
  readonly attention: Attention;
  readonly servers: readonly Server[];
}

export function AttentionList({ attention: { items, counts }, servers }: AttentionListProps) {
  const noEndpoint = counts !== undefined && counts.endpoints === 0 && counts.servers.all > 0;
  if (items.length === 0 && !noEndpoint) return null;
  const shown = shownItems(items);
  return (
    <section class="panel attention" aria-label={texts.title}>
      <ul>
        {shown.map((item) => (
          <li key={`${item.kind} ${item.object?.uuid} ${item.field}`} class="attention-row">
            <Item item={item} server={servers.find(({ uuid }) => uuid === item.object?.uuid)} />
          </li>
        ))}
        {noEndpoint && (
          <li class="attention-row">
            <Name to={{ page: "endpoints" }} text={shellTexts.pages.endpoints} />
            <Status state="warn" {...texts.noEndpoint} />
            {may("endpoints.write") && (
              <FixLink to={{ page: "overview", query: { start: "1" } }} name={texts.makeEndpoint} />
            )}
          </li>
        )}
      </ul>
      {items.length > shown.length && (
        <p class="attention-more">
          <a href={hrefOf({ page: "servers" })}>{texts.more(items.length - shown.length)}</a>
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
  const { severity, object, replicas } = item;
  const reason =
    [replicas && object && texts.at(replicas), item.reason].filter(Boolean).join(": ") || undefined;
  if (server && SERVER_STATES.has(item.kind) && !item.replicas)
    return (
      <>
        <Name to={{ page: "servers", id: server.uuid }} text={server.name} mono />
        <ServerState server={server} />
      </>
    );
  const notice = NOTICES[item.kind](item);
  const page = PAGES[object?.kind as keyof typeof PAGES];
  const to = page ? { page, id: object?.uuid } : notice.to;
  return (
    <>
      <Name to={to} text={object?.name ?? notice.name ?? ""} mono={object !== undefined} />
      <span class="server-state">
        <Status
          state={STATES[severity]}
          word={notice.word}
          reason={notice.reason ?? reason}
          action={item.until !== undefined && <Ago at={item.until} />}
        />
      </span>
      {notice.to && <FixLink to={notice.to} name={notice.action ?? texts.open} />}
    </>
  );
}

/** The text of one item, and the page that fixes the problem. */
interface Notice {
  readonly word: string;
  readonly reason?: string;
  /** Shown instead of an object's name, if the item has no object. */
  readonly name?: string;
  readonly to?: Target;
  /** Label of the link. */
  readonly action?: string;
}

const PAGES = { server: "servers", endpoint: "endpoints", "api-key": "keys" } as const;
const failed = (): Notice => ({ word: serverTexts.states.failed });

const NOTICES: Readonly<Record<AttentionItem["kind"], (item: AttentionItem) => Notice>> = {
  "server.failed": failed,
  "server.misconfigured": failed,
  "server.login": failed,
  "server.untried": () => ({ word: serverTexts.states.untried }),
  "server.secret": ({ object, field = "" }) => ({
    word: texts.secret.word,
    reason: texts.secret.reason(field),
    to: { page: "servers", id: object?.uuid, query: { tab: "settings" } },
  }),
  "tools.changed": ({ count = 0 }) => ({
    word: texts.changed.word,
    reason: texts.changed.reason(count),
    to: { page: "tools", query: { changed: "1" } },
    action: texts.review,
  }),
  "tools.suspect": ({ count = 0 }) => ({
    word: texts.suspect.word,
    reason: texts.suspect.reason(count),
    to: { page: "tools", query: { changed: "1" } },
    action: texts.review,
  }),
  "endpoint.public": ({ object }) => ({
    ...texts.public,
    to: { page: "endpoints", id: object?.uuid, query: { tab: "access" } },
  }),
  "store.away": ({ reason = "" }) => ({
    name: texts.store.name,
    word: texts.store.word,
    reason: texts.store.reason(reason),
  }),
  "replicas.unshared": () => ({ ...texts.replicas, to: { page: "replicas" } }),
  "replica.silent": ({ replicas = [] }) => ({
    name: texts.silent.name(replicas),
    word: texts.silent.word,
    reason: texts.silent.reason,
    to: { page: "replicas" },
  }),
  "audit.fault": () => ({ name: texts.audit.name, word: texts.audit.fault }),
  "audit.lost": ({ count = 0 }) => ({
    name: texts.audit.name,
    word: texts.audit.lost,
    reason: texts.audit.lostReason(count),
  }),
  "key.expiring": ({ object }) => ({ word: texts.key, to: { page: "keys", id: object?.uuid } }),
  "approvals.waiting": ({ count = 0 }) => ({
    name: requestsTexts.calls.tab,
    word: texts.approvals.word,
    reason: texts.approvals.reason(count),
    to: { page: "requests" },
    action: texts.decide,
  }),
  "requests.pending": ({ count = 0 }) => ({
    name: requestsTexts.servers.tab,
    word: texts.requests.word,
    reason: texts.requests.reason(count),
    to: { page: "requests", query: { tab: "servers" } },
    action: texts.decide,
  }),
};

interface NameProps {
  readonly to: Target | undefined;
  readonly text: string;
  readonly mono?: boolean;
}

function Name({ to, text, mono = false }: NameProps) {
  const look = `attention-name cut${mono ? " mono" : ""}`;
  if (!to) return <bdi class={look}>{text}</bdi>;
  return (
    <a class={look} href={hrefOf(to)}>
      <bdi>{text}</bdi>
    </a>
  );
}

function FixLink({ to, name }: { readonly to: Target; readonly name: string }) {
  return (
    <Button size="small" href={hrefOf(to)}>
      {name}
    </Button>
  );
}
