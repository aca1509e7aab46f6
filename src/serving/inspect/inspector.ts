/** The inspector, the self-test and the config entries for clients, for administrators. */
import type { TemporaryKeys } from "../../access/temporary-keys.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ConnectionStatus, GatewayControl } from "../../gateway/control.ts";
import type { InspectorControl } from "../../gateway/inspector-control.ts";
import { SURFACES } from "../../surface/surfaces.ts";
import type { ServedEndpoints } from "../site/served-endpoints.ts";
import { INSPECTOR, type InspectParts, inspect } from "./inspect.ts";
import { selfTest } from "./self-test.ts";

export interface InspectorParts extends Omit<InspectParts, "sessionless"> {
  readonly engine: Pick<Engine, "scope" | "open" | "catalog">;
  readonly endpoints: ServedEndpoints;
  readonly control: Pick<GatewayControl, "statusOf">;
  readonly temporaryKeys: TemporaryKeys;
  /** The URL of the gateway for clients. */
  readonly url: () => string;
}

export function createInspector(parts: InspectorParts): InspectorControl {
  const { engine, endpoints, control, temporaryKeys, url } = parts;
  const { sessionless } = engine.open({ id: INSPECTOR, surface: SURFACES.aggregate });
  return {
    get url() {
      return url();
    },
    clients: async (remote) => (await import("../../clients/remote-entry.ts")).clientSnippets(remote),
    inspect: (wanted) => inspect({ ...parts, sessionless }, wanted),
    selfTest: (endpoint) =>
      selfTest(endpoint, {
        url: url(),
        temporaryKeys,
        endOf: (principal) => endpoints.endOf(principal),
        down: ({ parts }) =>
          parts.flatMap(({ part }) => (part.off ? [] : faultOf(part.name, control.statusOf(part.server)))),
      }),
  };
}

function faultOf(name: string, { state, reason = state }: ConnectionStatus): readonly string[] {
  if (state !== "failed") return [];
  // Most reasons name the server already.
  return [reason.startsWith(`${name}: `) ? reason : `${name}: ${reason}`];
}
