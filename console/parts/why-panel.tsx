/** Says why a call failed or was refused, first on its page, with the button that mends it. */
import { hrefOf } from "../address.ts";
import { send } from "../api/client.ts";
import type { RecentCall } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { ForeignText } from "../components/foreign-text.tsx";
import { StatusShape } from "../components/status.tsx";
import { CONFIG, useResource } from "../live/resource.ts";
import { restart } from "../pages/servers/server-actions.ts";
import { runWithToast } from "../run-with-toast.ts";
import { may } from "../session.ts";
import { whyTexts as texts } from "../texts/why.ts";
import { toastWithUndo } from "../undo.ts";
import { beginLogin } from "./begin-login.ts";
import { placeIn, saidIn, whyText } from "./why-text.ts";
import "./why-panel.css";

type WhyCall = Pick<
  RecentCall,
  "outcome" | "code" | "by" | "place" | "reason" | "results" | "server" | "endpoint" | "tool"
>;

export function WhyPanel({ call }: { readonly call: WhyCall }) {
  const { outcome, reason, code, results, by } = call;
  if (outcome === "ok") return null;
  const { error, output } = saidIn(results);
  const refused = outcome === "refused";
  const isUnknown = refused && code === "tool_not_found" && by === undefined;
  return (
    <section
      class={`why${refused ? " why-refused" : ""}`}
      aria-label={refused ? texts.refused : texts.failed}
    >
      <h2 class="line">
        <StatusShape state={refused ? "warn" : "bad"} />
        {refused ? texts.refused : texts.failed}
      </h2>
      <p class="why-text">
        <ForeignText text={whyText(call) ?? ""} />
      </p>
      {isUnknown && <p class="muted">{texts.unknownTool}</p>}
      {reason !== undefined && error !== undefined && <Said title={texts.said} text={error} />}
      {output !== undefined && <Said title={texts.printed} text={output} />}
      {code === "execution_failed" && error === undefined && !may("arguments.read") && (
        <p class="muted">{texts.onlyAdministrators}</p>
      )}
      <div class="line">
        <Mend call={call} />
        {code !== undefined && (
          <span class="muted">
            {texts.code}: <code>{code}</code>
          </span>
        )}
      </div>
    </section>
  );
}

function Said({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div class="stack-small">
      <span class="muted">{title}</span>
      <pre class="panel padded">
        <ForeignText text={text} />
      </pre>
    </div>
  );
}

/** The button that mends it, if one can. */
function Mend({ call }: { readonly call: WhyCall }) {
  const { code, by, place, server } = call;
  const at = placeIn(place);
  const serverHref = (tab?: string) =>
    hrefOf({ page: "servers", id: server.uuid ?? server.name, query: { tab } });
  if (by === "namespace" && at) return <TurnOn call={call} namespace={at.name} />;
  if (by === "endpoint" && at)
    return (
      <Button href={hrefOf({ page: "endpoints", id: at.name, query: { tab: "settings" } })}>
        {texts.openEndpoint(at.name)}
      </Button>
    );
  if (by !== undefined && by !== "server" && at) return <EditRule layer={by} place={at} />;
  if (by === "limits" && may("settings"))
    return <Button href={hrefOf({ page: "settings" })}>{texts.settings}</Button>;
  if (server.uuid === undefined) return null;
  const uuid = server.uuid;
  if (code === "auth_required" && may("servers.write"))
    return (
      <Button
        kind="primary"
        onClick={() => void beginLogin("all", uuid, hrefOf({ page: "servers", id: uuid }))}
      >
        {texts.logIn}
      </Button>
    );
  if (code === "timeout" && may("servers.write"))
    return <Button href={serverHref("settings")}>{texts.editTimeout}</Button>;
  if (code !== "server_unavailable" && by !== "server") return null;
  return (
    <>
      {may("servers.use") && (
        <Button kind="primary" onClick={() => void restart({ uuid, name: server.name })}>
          {texts.restart}
        </Button>
      )}
      <Button href={serverHref(may("servers.logs") ? "log" : undefined)}>
        {may("servers.logs") ? texts.log : texts.openServer}
      </Button>
    </>
  );
}

/** A tool whose switch is off gets that switch. Anything else is a matter of the namespace's page. */
function TurnOn({
  call: { server, tool },
  namespace,
}: {
  readonly call: WhyCall;
  readonly namespace: string;
}) {
  const open = (
    <Button href={hrefOf({ page: "namespaces", id: namespace })}>{texts.openNamespace(namespace)}</Button>
  );
  const asked =
    may("namespaces.write") && server.uuid ? { server: server.uuid, namespace, q: tool } : undefined;
  const table = useResource("/tools", asked, CONFIG).value.value;
  const at = table?.namespaces.findIndex(({ name }) => name === namespace);
  const state = table?.items.find((row) => row.tool === tool)?.in[String(at)];
  if (state !== "off" && state !== "new") return open;
  const turnOn = () =>
    runWithToast(async () => {
      const set = [{ server: server.uuid ?? "", tool, disabled: false }];
      await send("POST /namespaces/:uuid/tools", { set }, { params: { uuid: namespace } });
      await toastWithUndo(texts.turnedOn(tool));
    });
  return (
    <>
      <Button kind="primary" onClick={() => void turnOn()}>
        {texts.turnOn(tool, namespace)}
      </Button>
      {open}
    </>
  );
}

const PAGES = {
  gateway: () => hrefOf({ page: "settings" }),
  endpoint: (id: string) => hrefOf({ page: "endpoints", id, query: { tab: "pipeline" } }),
  namespace: (id: string) => hrefOf({ page: "namespaces", id, query: { tab: "pipeline" } }),
  server: (id: string) => hrefOf({ page: "servers", id, query: { tab: "settings" } }),
} as const;

const RIGHTS = {
  gateway: "settings",
  endpoint: "endpoints.write",
  namespace: "namespaces.write",
  server: "servers.write",
} as const;

interface EditRuleProps {
  readonly layer: string;
  readonly place: NonNullable<ReturnType<typeof placeIn>>;
}

function EditRule({ layer, place: { kind, name } }: EditRuleProps) {
  // Who may read the pipeline of an endpoint can see the rule there.
  if (!may(kind === "endpoint" ? "objects.read" : RIGHTS[kind])) return null;
  const edits = may(RIGHTS[kind]) && may("layers.guarded");
  return (
    <Button kind={edits ? "primary" : "plain"} href={PAGES[kind](name)}>
      {edits ? texts.editRule(layer) : texts.seeRule(layer)}
    </Button>
  );
}
