/**
 * Headers of every event stream. Proxies must pass events on at once, without collecting, storing or
 * compressing them.
 */
export const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store, no-transform",
  "x-accel-buffering": "no",
} as const;
