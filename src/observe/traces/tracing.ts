/** Traces of the calls of a gateway. Never holds a call up: what the collector does not take in time is lost, and counted. */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { VERSION } from "../../kernel/version.ts";
import { BatchQueue } from "../batch-queue.ts";
import { callRow } from "../call-row.ts";
import type { Names } from "../names.ts";
import type { OtelEnvironment } from "./otel-environment.ts";
import { CollectorBusy, otlpSender } from "./otlp.ts";
import { attributesText, type SpanText, spansOf } from "./spans.ts";
import { contextFrom, ratioSampler } from "./trace-context.ts";

export interface TracingParts {
  readonly events: Events;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Tracing {
  readonly lost: number;
  /** Sends what is left. */
  close(): Promise<void>;
}

const BATCH = 2_048;
const MOST_QUEUED = 16_384;
const EVERY_MS = 250;
const CLOSE_MS = 3_000;

/** Made by the thousand: a few bytes alone cost as much. */
const CHANCE_BYTES = 4_096;

function randomHex(): (bytes: number) => string {
  let made = "";
  let at = 0;
  return (bytes) => {
    if (at + bytes * 2 > made.length) {
      made = randomBytes(CHANCE_BYTES).toString("hex");
      at = 0;
    }
    at += bytes * 2;
    return made.slice(at - bytes * 2, at);
  };
}

export function startTracing(environment: OtelEnvironment, parts: TracingParts): Tracing {
  const { events, names, clock, log } = parts;
  const { url, headers, timeoutMs, ratio } = environment;
  const resource = attributesText({ "service.version": VERSION, ...environment.attributes });
  const queue = new BatchQueue<SpanText>({
    clock,
    write: otlpSender({ url, headers, timeoutMs, resource, version: VERSION }),
    again: (error) => error instanceof CollectorBusy && (error.waitMs ?? true),
    onFault: (fault) =>
      fault === undefined ? log.info("traces are sent again") : log.warn(`traces cannot be sent: ${fault}`),
    // What stands in a span is bounded in length: their number says enough.
    sizeOf: () => 1,
    mostInBatch: BATCH,
    mostBytesInBatch: BATCH,
    mostQueued: MOST_QUEUED,
    mostBytes: MOST_QUEUED,
    everyMs: EVERY_MS,
  });
  const random = randomHex();
  const sample = ratioSampler(ratio);
  events.tracer = (request) => contextFrom(request, random, sample);
  const stop = events.on((event) => {
    if (event.type !== "call.ended" || !event.trail.trace?.sampled) return;
    for (const span of spansOf(callRow(event, names), event, names)) queue.add(span);
  });
  return {
    get lost() {
      return queue.lost;
    },
    async close() {
      events.tracer = undefined;
      stop();
      await queue.close(CLOSE_MS);
    },
  };
}
