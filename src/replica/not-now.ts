/** Requests that cannot be decided now, because the store or another replica cannot be reached. */
import type { ServerResponse } from "node:http";
import { StoreError } from "../store/error.ts";
import { refuse } from "../transport/http/http-server.ts";

const RETRY_SECONDS = 2;

/** Why a request cannot be served now, though what it names may exist. */
export class NotNow extends Error {}

export function isForLater(error: unknown): error is NotNow | StoreError {
  return error instanceof NotNow || StoreError.is(error);
}

/** What cannot be decided now gets 503. */
export async function orLater<T>(response: ServerResponse, run: () => Promise<T>): Promise<T | "answered"> {
  try {
    return await run();
  } catch (error) {
    if (!isForLater(error)) throw error;
    response.setHeader("retry-after", RETRY_SECONDS);
    refuse(response, 503, `${error.message}: try again later`);
    return "answered";
  }
}
