/** The drawer of a server: state, tools, settings, log and calls. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Ago } from "../../ago.tsx";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { LogView } from "../../components/log-view.tsx";
import { Menu, type MenuItem } from "../../components/menu.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Status } from "../../components/status.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { dateTime } from "../../format.ts";
import { STATES, useResource } from "../../live/resource.ts";
import { address, setQuery } from "../../navigate.ts";
import { may } from "../../session.ts";
import { Failed, Ready } from "../../shell/ready.tsx";
import { replicasTexts } from "../../texts/replicas.ts";
import { serverTexts, serverTexts as texts } from "../../texts/servers.ts";
import { CallsTab } from "./calls-tab.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { logInAt, restart, switchServer } from "./server-actions.ts";
import { isUntried, shownState } from "./server-state.ts";
import { SettingsTab } from "./settings-tab.tsx";
import { StateTab } from "./state-tab.tsx";
import { ToolsTab } from "./tools-tab.tsx";

interface ServerDrawerProps {
  readonly uuid: string;
  readonly onClose: () => void;
}

export function ServerDrawer({ uuid, onClose }: ServerDrawerProps) {
  const loaded = useResource("/mcp-servers/:uuid", { uuid }, STATES).value;
  const { value, problem } = loaded;
  if (value) return <LoadedDrawer server={value} onClose={onClose} />;
  return (
    <Drawer title={texts.title} onClose={onClose}>
      {problem ? <Failed problem={problem} /> : <Skeleton rows={8} />}
    </Drawer>
  );
}

function LoadedDrawer({ server, onClose }: { readonly server: Server; readonly onClose: () => void }) {
  const deleting = useSignal(false);
  const restarting = useSignal(false);
  const tabs = TABS.filter(({ id }) => id !== "log" || may("servers.logs"));
  // The address may come from a person with more rights.
  const tab = tabs.find(({ id }) => id === address.value.query["tab"])?.id ?? "state";
  const restartServer = async () => {
    restarting.value = true;
    await restart(server);
    restarting.value = false;
  };
  const afterLogin = address.value.query["back"] === "login";
  useEffect(() => {
    if (!afterLogin) return;
    setQuery({ back: undefined });
    // The connection failed without the login, so it is tried again.
    if (may("servers.use")) void restartServer();
  }, [afterLogin]);
  const more: (MenuItem | "line")[] = [];
  if (may("servers.switch"))
    more.push({
      label: server.disabled ? texts.turnOn : texts.turnOff,
      onSelect: () => void switchServer(server, !server.disabled),
    });
  if (may("servers.write"))
    more.push("line", { label: texts.delete, danger: true, onSelect: () => (deleting.value = true) });
  return (
    <Drawer
      title={server.name}
      titleMono
      subtitle={<StateLine server={server} />}
      onClose={onClose}
      actions={
        <>
          {server.status.needsLogin && server.credentials === "shared" && may("servers.write") && (
            <Button kind="primary" onClick={() => void logInAt(server)}>
              {texts.logIn}
            </Button>
          )}
          {may("servers.use") && !server.disabled && (
            <Button busy={restarting.value} onClick={() => void restartServer()}>
              {isUntried(server) ? texts.tryNow : texts.restart}
            </Button>
          )}
          {more.length > 0 && <Menu items={more}>{texts.more}</Menu>}
        </>
      }
    >
      <Tabs
        label={texts.tabsLabel}
        tabs={tabs.map((one) => (one.id === "tools" ? { ...one, count: server.status.toolCount } : one))}
        active={tab}
        onChange={(id) => setQuery({ tab: id === "state" ? undefined : id })}
      >
        <TabContent tab={tab} server={server} />
      </Tabs>
      {deleting.value && (
        <DeleteDialog server={server} onClose={() => (deleting.value = false)} onDeleted={onClose} />
      )}
    </Drawer>
  );
}

/** The state without its reason, which the tab "State" shows completely. */
function StateLine({ server }: { readonly server: Server }) {
  const { state, word } = shownState(server);
  const { lastFailure, since = lastFailure?.since } = server.status;
  return (
    <>
      <Status state={state} word={word} /> {since !== undefined && <Ago at={since} />}
    </>
  );
}

const TABS = (["state", "tools", "settings", "log", "calls"] as const).map((id) => ({
  id,
  label: texts.tabs[id],
}));

function TabContent({ tab, server }: { readonly tab: string; readonly server: Server }) {
  switch (tab) {
    case "tools":
      return <ToolsTab server={server} />;
    case "settings":
      return <SettingsTab server={server} />;
    case "log":
      return <LogTab server={server} />;
    case "calls":
      return <CallsTab server={server} />;
    default:
      return <StateTab server={server} />;
  }
}

/** Shows the stderr output of a server. */
const POLL_MS = 2_000;

function LogTab({ server }: { readonly server: Server }) {
  const { replica } = address.value.query;
  const log = useResource(
    "/mcp-servers/:uuid/logs",
    { uuid: server.uuid, ...(replica && { replica }) },
    { everyMs: POLL_MS, on: ["connection"] },
  );
  return (
    <Ready of={log}>
      {({ items, times, replica: shown, replicas = [] }) => (
        <div class="stack-small">
          {replicas.length > 1 && (
            <SelectField
              label={replicasTexts.replica}
              value={shown ?? ""}
              options={replicas.map((id) => ({ value: id, label: id }))}
              onInput={(id) => setQuery({ replica: id })}
            />
          )}
          <Lines items={items} times={times} />
        </div>
      )}
    </Ready>
  );
}

interface LinesProps {
  readonly items: readonly string[];
  readonly times: readonly string[];
}

function Lines({ items, times }: LinesProps) {
  const lines = useMemo(
    () => items.map((text, key) => ({ key, text, time: dateTime(Date.parse(times[key] ?? "")) })),
    [items, times],
  );
  const { label, empty } = serverTexts.log;
  return <LogView label={label} lines={lines} empty={empty} height={480} />;
}
