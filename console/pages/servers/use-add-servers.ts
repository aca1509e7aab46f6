/** Adds servers: stores them, adds them to a namespace, and connects each once to show whether it works. */
import { useSignal } from "@preact/signals";
import { ApiProblem, get, getPages, itemsOf, send } from "../../api/client.ts";
import type { ConnectionStatus, Server } from "../../api/types.ts";
import { type Sending, useSending } from "../../use-sending.ts";
import { addToNamespace, type NamespaceChoice } from "./add-to-namespace.ts";
import type { Entries } from "./read-pasted.ts";

export interface AddedServer {
  readonly uuid: string;
  readonly name: string;
  /** Undefined until the connection attempt has ended. */
  readonly connection: ConnectionStatus | undefined;
}

export interface AddServersState extends Sending {
  /** Undefined until the servers are stored. */
  readonly added: readonly AddedServer[] | undefined;
  readonly warnings: readonly string[];
  readonly add: (entries: Entries, choice: NamespaceChoice) => Promise<boolean>;
}

export function useAddServers(): AddServersState {
  const sending = useSending();
  const added = useSignal<readonly AddedServer[] | undefined>(undefined);
  const warnings = useSignal<readonly string[]>([]);

  const setConnection = (uuid: string, connection: ConnectionStatus) => {
    added.value = added.value?.map((one) => (one.uuid === uuid ? { ...one, connection } : one));
  };
  const connect = async ({ uuid }: AddedServer) => {
    try {
      const { connection } = await send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } });
      setConnection(uuid, connection);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setConnection(uuid, { state: "failed", connected: false, toolCount: 0, reason: error.message });
    }
  };

  return {
    ...sending,
    added: added.value,
    warnings: warnings.value,
    add: (entries, choice) =>
      sending.run(async () => {
        const done = await send("POST /mcp-servers/import", { mcpServers: entries });
        warnings.value = done.warnings ?? [];
        const servers = await serversByName(Object.keys(entries));
        await addToNamespace(
          servers.map(({ uuid }) => uuid),
          choice,
          await readExisting(),
        );
        added.value = servers.map(({ uuid, name }) => ({ uuid, name, connection: undefined }));
        // All at once, so that a slow server does not delay the others.
        for (const one of added.value) void connect(one);
      }),
  };
}

async function readExisting() {
  const [namespaces, endpoints] = await Promise.all([getPages("/namespaces"), getPages("/endpoints")]);
  return { namespaces: itemsOf<"/namespaces">(namespaces), endpoints: itemsOf<"/endpoints">(endpoints) };
}

/** The API accepts a name instead of a uuid. */
async function serversByName(names: readonly string[]): Promise<readonly Server[]> {
  return await Promise.all(names.map((uuid) => get("/mcp-servers/:uuid", { uuid })));
}
