/** Adds servers: stores them, puts them into a namespace, and connects each once, so that one sees at once whether it works. */
import { useSignal } from "@preact/signals";
import { ApiProblem, get, getPages, itemsOf, send } from "../../api/client.ts";
import type { ConnectionStatus, Server } from "../../api/types.ts";
import { type Sending, useSending } from "../../use-sending.ts";
import { join, type Place } from "./join.ts";
import type { Entries } from "./read-pasted.ts";

export interface Added {
  readonly uuid: string;
  readonly name: string;
  /** Undefined while it is tried. */
  readonly connection: ConnectionStatus | undefined;
}

export interface Adding extends Sending {
  /** Undefined until they are stored. */
  readonly added: readonly Added[] | undefined;
  readonly warnings: readonly string[];
  readonly add: (entries: Entries, place: Place) => Promise<boolean>;
}

export function useAdding(): Adding {
  const sending = useSending();
  const added = useSignal<readonly Added[] | undefined>(undefined);
  const warnings = useSignal<readonly string[]>([]);

  const tried = (uuid: string, connection: ConnectionStatus) => {
    added.value = added.value?.map((one) => (one.uuid === uuid ? { ...one, connection } : one));
  };
  const tryOne = async ({ uuid }: Added) => {
    try {
      const { connection } = await send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } });
      tried(uuid, connection);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      tried(uuid, { state: "failed", connected: false, toolCount: 0, reason: error.message });
    }
  };

  return {
    ...sending,
    added: added.value,
    warnings: warnings.value,
    add: (entries, place) =>
      sending.run(async () => {
        const done = await send("POST /mcp-servers/import", { mcpServers: entries });
        warnings.value = done.warnings ?? [];
        const servers = await named(Object.keys(entries));
        await join(
          servers.map(({ uuid }) => uuid),
          place,
          await whatIsThere(),
        );
        added.value = servers.map(({ uuid, name }) => ({ uuid, name, connection: undefined }));
        // One after the other waits for the slowest; all at once is what a client would do.
        for (const one of added.value) void tryOne(one);
      }),
  };
}

async function whatIsThere() {
  const [namespaces, endpoints] = await Promise.all([getPages("/namespaces"), getPages("/endpoints")]);
  return { namespaces: itemsOf<"/namespaces">(namespaces), endpoints: itemsOf<"/endpoints">(endpoints) };
}

/** The API takes a name where a uuid stands. */
async function named(names: readonly string[]): Promise<readonly Server[]> {
  return await Promise.all(names.map((uuid) => get("/mcp-servers/:uuid", { uuid })));
}
