/** The state of a replica as it is shown. */
import type { Replica } from "../../api/types.ts";
import type { StatusProps } from "../../components/status.tsx";
import { replicasTexts as texts } from "../../texts/replicas.ts";

const STATES = { serving: "ok", draining: "busy", silent: "bad" } as const;

export function stateOf({ state, address }: Replica): StatusProps {
  const reason = state === "silent" ? texts.silent : address === undefined ? texts.noAddress : undefined;
  return { state: STATES[state], word: texts.states[state], reason };
}
