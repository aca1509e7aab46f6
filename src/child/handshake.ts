/** The handshake (`initialize`) of the session-based protocol era, with MetaMCP as the client. */
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import type { Peer } from "../rpc/peer.ts";
import { isObject, joinObject, members } from "../rpc/slice.ts";
import { ChildFailure } from "./link.ts";

const NEWEST = "2025-11-25";

/** What a child says about itself in the handshake. */
export interface HandshakeResult {
  readonly era: "legacy" | "2026";
  readonly protocolVersion: string;
  readonly capabilities: Raw;
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly instructions: string | undefined;
}

/**
 * `capabilities` are those of the client for which we connect. `notifications/initialized` is sent later,
 * once the link knows the protocol version.
 */
export async function shakeHands(
  peer: Peer,
  capabilities: Raw,
  signal: AbortSignal,
): Promise<HandshakeResult> {
  const params = joinObject([
    ["protocolVersion", toRaw(NEWEST)],
    ["capabilities", capabilities],
    ["clientInfo", toRaw(IMPLEMENTATION)],
  ]);
  return readHandshake(await peer.request("initialize", params, { signal }));
}

function readHandshake(result: Raw): HandshakeResult {
  const [version, capabilities = EMPTY_OBJECT, info = EMPTY_OBJECT, instructions] = members(result, [
    "protocolVersion",
    "capabilities",
    "serverInfo",
    "instructions",
  ]);
  const protocolVersion = version && fromRaw(version);
  if (typeof protocolVersion !== "string" || !isObject(capabilities)) {
    throw new ChildFailure(
      "other",
      "its answer to initialize is invalid: protocolVersion or capabilities are missing",
    );
  }
  const [title, name, release] = members(info, ["title", "name", "version"]).map(textOf);
  return {
    era: "legacy",
    protocolVersion,
    capabilities,
    title: title ?? name,
    version: release,
    instructions: textOf(instructions),
  };
}

export function textOf(raw: Raw | undefined): string | undefined {
  const value = raw && fromRaw(raw);
  return typeof value === "string" ? value : undefined;
}
