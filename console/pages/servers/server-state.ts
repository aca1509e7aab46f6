/** Computes the shown state of a server: shape, word, reason, and its command or address. Pure. */
import type { ConnectionStatus, Server } from "../../api/types.ts";
import type { State } from "../../components/status.tsx";
import { serverTexts } from "../../texts/servers.ts";

export interface ShownState {
  readonly state: State;
  readonly word: string;
  readonly reason?: string | undefined;
}

const { states } = serverTexts;

export function shownState({
  name,
  status,
}: {
  readonly name: string;
  readonly status: ConnectionStatus;
}): ShownState {
  const { state, connected, lastFailure } = status;
  const reason = status.reason && shortReason(status.reason, name);
  if (connected) return { state: "ok", word: states.connected };
  if (lastFailure)
    return { state: "warn", word: states.untried, reason: shortReason(lastFailure.reason, name) };
  switch (state) {
    case "failed":
      return { state: "bad", word: states.failed, reason };
    case "connecting":
      return { state: "busy", word: states.connecting, reason };
    case "disabled":
      return { state: "off", word: states.disabled };
    case "closed":
      return { state: "off", word: states.closed, reason };
    case "active":
    case "idle":
      return { state: "off", word: states.idle, reason };
  }
}

/** The reason without the name, which stands beside it, and without what a call did, which is not asked. */
export function shortReason(reason: string, name: string): string {
  const own = reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;
  return own.replace(/ Nothing was done\.(?= |$)/, "");
}

export function needsAttention({ status }: Pick<Server, "status">): boolean {
  return status.state === "failed" || isUntried({ status });
}

/** It failed when it was last tried, and was not tried since the gateway started. */
export function isUntried({ status }: Pick<Server, "status">): boolean {
  return status.lastFailure !== undefined;
}

/** Returns the command line or the address of a server. */
export function commandOrUrl({
  command,
  args = [],
  url,
  openapi,
}: Pick<Server, "command" | "args" | "url" | "openapi">): string {
  return (
    url ??
    openapi ??
    [command ?? "", ...args].map((word) => (/\s/.test(word) ? JSON.stringify(word) : word)).join(" ")
  );
}
