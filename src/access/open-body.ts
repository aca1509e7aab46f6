/**
 * Bodies of requests without a login: small, few at a time, and complete within seconds. Otherwise strangers
 * could fill the memory with them.
 */
import type { IncomingMessage } from "node:http";
import { UnfinishedBodies } from "../kernel/unfinished-bodies.ts";
import { networkOf } from "./throttle.ts";

/** Far more than any form, password or client registration needs. */
export const MAX_OPEN_BYTES = 16 * 1024;
const ARRIVES_MS = 5_000;
/** Unfinished bodies of one network, and in all. */
const FEW = { perOwner: 8 * MAX_OPEN_BYTES, total: 64 * MAX_OPEN_BYTES };

const bodies = new UnfinishedBodies(FEW);

/**
 * Returns false if the body is too large by its length; the caller must refuse it. Otherwise closes the
 * connection if the body does not arrive in time or must make room for newer ones. Does not read the body.
 */
export function watchOpenBody(request: IncomingMessage, address: string): boolean {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return true;
  // A complete body may still wait to be read.
  const cut = (): void => void (request.complete || request.destroy());
  const body = bodies.begin(networkOf(address), cut);
  const timer = setTimeout(cut, ARRIVES_MS).unref();
  const over = (): void => {
    clearTimeout(timer);
    body.done();
  };
  request.once("end", over).once("close", over);
  // Its whole size counts from the beginning, so that the limits are numbers of bodies.
  body.add(MAX_OPEN_BYTES);
  return Number(length ?? 0) <= MAX_OPEN_BYTES;
}
