/** Why a session ended that its client did not end. Made once: an error costs more than the rest of a request that ends with one. */
import { MetaMcpError } from "../kernel/errors.ts";

export const OVER: MetaMcpError = new MetaMcpError("cancelled", "The endpoint ended its sessions.");
export const REVOKED: MetaMcpError = new MetaMcpError(
  "cancelled",
  "The credentials of this session are no longer valid.",
);
export const ENDED: MetaMcpError = new MetaMcpError("cancelled", "An administrator ended this session.");
