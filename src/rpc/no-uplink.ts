/** The uplink of a caller that gets only its answer: notifications are dropped, requests are rejected. */
import type { Uplink } from "../kernel/call.ts";
import { METHOD_NOT_FOUND, RpcError } from "./rpc-error.ts";

export const NO_UPLINK: Uplink = {
  notify: () => {},
  request: (method) => Promise.reject(RpcError.of(METHOD_NOT_FOUND, `${method} cannot be answered here`)),
};
