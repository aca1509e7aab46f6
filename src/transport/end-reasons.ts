/**
 * Reasons for sessions that MetaMCP ended and not the client. Each error is created once, because creating
 * one costs more than the rest of the request.
 */
import { MetaMcpError } from "../kernel/errors.ts";

export const ENDPOINT_ENDED: MetaMcpError = new MetaMcpError("cancelled", "The endpoint ended its sessions.");
export const CREDENTIALS_REVOKED: MetaMcpError = new MetaMcpError(
  "cancelled",
  "The credentials of this session are no longer valid.",
);
export const ACCESS_LOST: MetaMcpError = new MetaMcpError(
  "cancelled",
  "You may no longer use this endpoint.",
);
export const SESSION_ENDED: MetaMcpError = new MetaMcpError(
  "cancelled",
  "An administrator ended this session.",
);
export const SESSION_MOVED: MetaMcpError = new MetaMcpError(
  "server_unavailable",
  "This session goes on at another replica of the gateway. The call may have run: check its effects before you repeat it.",
  { retryable: false, mayHaveRun: true },
);
export const NO_ROOM: MetaMcpError = new MetaMcpError(
  "cancelled",
  "There were too many sessions, and this one made room for another.",
);
