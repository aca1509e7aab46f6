/** The answer to a request whose replica died: nobody knows whether it ran. */
import { MetaMcpError, mayHaveRun } from "../../kernel/errors.ts";
import type { Message } from "../../rpc/message.ts";
import { errorOf } from "../../rpc/rpc-error.ts";
import type { StreamRequest } from "./event-tag.ts";

export function lostAnswer({ id, safe }: StreamRequest): Message {
  const error = new MetaMcpError(
    "server_unavailable",
    `The replica of the gateway that served this request is gone. ${mayHaveRun(safe ? "safe" : "unknown")}`,
    { retryable: safe, mayHaveRun: true },
  );
  return { kind: "error", id, error: errorOf(error) };
}
