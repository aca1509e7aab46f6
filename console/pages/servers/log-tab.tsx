/** Shows the stderr output of a server. */
import { useMemo } from "preact/hooks";
import type { Server } from "../../api/types.ts";
import { LogView } from "../../components/log-view.tsx";
import { useResource } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";
import { serverTexts } from "../../texts/servers.ts";

const POLL_MS = 2_000;

export function LogTab({ server }: { readonly server: Server }) {
  const log = useResource(
    "/mcp-servers/:uuid/logs",
    { uuid: server.uuid },
    { everyMs: POLL_MS, on: ["connection"] },
  );
  return <Ready of={log}>{({ items }) => <Lines items={items} />}</Ready>;
}

function Lines({ items }: { readonly items: readonly string[] }) {
  const lines = useMemo(() => items.map((text, key) => ({ key, text })), [items]);
  const { label, empty } = serverTexts.log;
  return <LogView label={label} lines={lines} empty={empty} height={480} />;
}
