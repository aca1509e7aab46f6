/** Shows one call completely: caller, layers with times, arguments. */
import type { ComponentChildren } from "preact";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { RecentCall } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyPage } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { type KeyValue, KeyValues } from "../../components/key-values.tsx";
import { duration, size } from "../../format.ts";
import { useResource } from "../../live/resource.ts";
import { address } from "../../navigate.ts";
import { KeyLink } from "../../parts/object-links.tsx";
import { Outcome } from "../../parts/outcome.tsx";
import { keepArguments } from "../../parts/repeated-call.ts";
import { WhyPanel } from "../../parts/why-panel.tsx";
import { saidIn } from "../../parts/why-text.ts";
import { may } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { Ready } from "../../shell/ready.tsx";
import { replicasTexts } from "../../texts/replicas.ts";
import { trafficTexts } from "../../texts/traffic.ts";
import { useTitle } from "../../title.ts";
import { calledTool } from "./call-columns.tsx";
import { LayerTimings } from "./layer-timings.tsx";

const texts = trafficTexts.one;

export function OneCall({ id }: { readonly id: string }) {
  const call = useResource("/calls/:id", { id }, {});
  const back = <Button href={hrefOf({ page: "traffic", query: address.value.query })}>{texts.back}</Button>;
  if (call.value.state === "failed" && call.value.problem.status === 404)
    return (
      <EmptyPage title={texts.gone} action={back}>
        <p>
          {texts.goneText} <a href={hrefOf({ page: "audit" })}>{texts.audit}</a>
        </p>
      </EmptyPage>
    );
  return <Ready of={call}>{(found) => <CallDetails call={found} actions={back} />}</Ready>;
}

function CallDetails({ call, actions }: { readonly call: RecentCall; readonly actions: ComponentChildren }) {
  const { id, outcome, layers, durationMs, results } = call;
  useTitle(texts.title(id));
  return (
    <>
      <PageHead
        title={texts.title(id)}
        summary={
          <>
            <code>
              <ForeignText text={calledTool(call)} />
            </code>{" "}
            {outcome === "ok" && <Outcome of={call} />}
          </>
        }
        actions={
          <>
            {may("servers.use") && !call.method && call.arguments !== undefined && (
              <Button
                href={tryItHref(call)}
                title={texts.replayTitle}
                onClick={() => keepArguments(`${call.server.uuid}:${call.tool}`, call.arguments)}
              >
                {texts.replay}
              </Button>
            )}
            {actions}
          </>
        }
      />
      <div class="sections">
        <WhyPanel call={call} />
        <div class="panel padded">
          <KeyValues facts items={facts(call)} />
        </div>
        <section class="stack-small">
          <h2>{texts.way}</h2>
          <div class="panel padded">
            <LayerTimings layers={layers} durationMs={durationMs} />
          </div>
        </section>
        <section class="stack-small">
          <h2>{outcome === "refused" ? texts.refusedArguments : texts.arguments}</h2>
          {call.arguments === undefined ? (
            <p class="muted">{may("arguments.read") ? texts.notKept : texts.noArguments}</p>
          ) : (
            <JsonTree label={texts.arguments} value={call.arguments} />
          )}
        </section>
        {results !== undefined && saidIn(results).error === undefined && (
          <section class="stack-small">
            <h2>{texts.result}</h2>
            <JsonTree label={texts.result} value={results} />
          </section>
        )}
      </div>
    </>
  );
}

/** The call is made on the page Try it, so that the person sees the arguments before they are sent. */
function tryItHref({ endpoint, server, tool }: RecentCall): string {
  return hrefOf({
    page: "try",
    query: {
      endpoint: endpoint.uuid ?? endpoint.name,
      server: server.uuid ?? server.name,
      tool,
    },
  });
}

interface ObjectLinkProps {
  readonly page: "endpoints" | "servers";
  readonly of: { readonly uuid?: string; readonly name: string };
}

function ObjectLink({ page, of: { uuid, name } }: ObjectLinkProps) {
  return (
    <a href={hrefOf({ page, id: uuid ?? name })}>
      <ForeignText text={name} />
    </a>
  );
}

interface CallsOfProps {
  readonly filter: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Link to all calls that have the same value. */
function CallsOf({ filter, text }: CallsOfProps) {
  return (
    <a href={hrefOf({ page: "traffic", query: filter })} title={texts.callsOf}>
      <ForeignText text={text} />
    </a>
  );
}

function facts(call: RecentCall): readonly KeyValue[] {
  const { columns } = trafficTexts;
  const {
    method = "tools/call",
    principal,
    client,
    session,
    surface,
    requestBytes,
    resultBytes,
    attempts,
    cached,
    traceId,
    request,
  } = call;
  const all: readonly (KeyValue | false | undefined)[] = [
    { key: columns.at, value: <Ago at={call.at} /> },
    { key: texts.kind, value: trafficTexts.methods[method] },
    { key: columns.who, value: <CallsOf filter={{ principal: principal.id }} text={principal.name} /> },
    {
      key: texts.tool,
      mono: true,
      value: <CallsOf filter={{ tool: call.tool, server: call.server.name }} text={calledTool(call)} />,
    },
    principal.key && { key: texts.key, value: <KeyLink of={principal.key} /> },
    client && {
      key: columns.client,
      value: <CallsOf filter={{ client: client.name }} text={`${client.name} ${client.version ?? ""}`} />,
    },
    {
      key: columns.endpoint,
      mono: true,
      value: <ObjectLink page="endpoints" of={call.endpoint} />,
    },
    call.server.uuid !== undefined && {
      key: texts.server,
      mono: true,
      value: <ObjectLink page="servers" of={call.server} />,
    },
    surface !== undefined && { key: texts.surface, value: call.via ? `${surface}, ${call.via}` : surface },
    call.replica !== undefined && { key: replicasTexts.replica, value: call.replica, mono: true },
    { key: columns.duration, value: duration(call.durationMs) },
    requestBytes !== undefined && { key: texts.sent, value: size(requestBytes) },
    resultBytes !== undefined && { key: texts.got, value: size(resultBytes) },
    attempts !== undefined && { key: texts.attempts, value: attempts },
    cached && { key: texts.cached, value: texts.yes },
    session !== undefined && {
      key: texts.session,
      value: <CallsOf filter={{ session }} text={session} />,
      mono: true,
      copy: session,
    },
    traceId !== undefined && { key: texts.trace, value: traceId, mono: true, copy: traceId },
    request !== undefined && { key: texts.request, value: request, mono: true, copy: request },
  ];
  return all.filter((one) => typeof one === "object");
}
