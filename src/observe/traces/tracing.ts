/**
 * Traces the calls of a gateway. Never delays a call: spans that the collector does not accept in time are
 * lost and counted.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { VERSION } from "../../kernel/version.ts";
import type { Observer } from "../observer.ts";
import type { OtelEnvironment } from "./otel-environment.ts";
import { otlpSender } from "./otlp.ts";
import { SpanPages } from "./span-pages.ts";
import { attributesText, writeSpans } from "./spans.ts";
import { contextFrom, ratioSampler } from "./trace-context.ts";

export interface TracingParts {
  readonly events: Pick<Events, "tracer">;
  /** Provides the row and group of each call, so that they are made once. */
  readonly observer: Pick<Observer, "names" | "onCall">;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of this gateway, where there may be several replicas. */
  readonly replica?: string | undefined;
}

export interface Tracing {
  readonly lost: number;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** Random bytes are generated in large blocks, because a few bytes cost as much as thousands. */
const RANDOM_BLOCK_BYTES = 4_096;

function randomHex(): (bytes: number) => string {
  let block = "";
  let at = 0;
  return (bytes) => {
    if (at + bytes * 2 > block.length) {
      block = randomBytes(RANDOM_BLOCK_BYTES).toString("hex");
      at = 0;
    }
    at += bytes * 2;
    return block.slice(at - bytes * 2, at);
  };
}

export function startTracing(environment: OtelEnvironment, parts: TracingParts): Tracing {
  const { events, observer, clock, log, replica } = parts;
  const { url, headers, timeoutMs, ratio } = environment;
  const instance = replica === undefined ? {} : { "service.instance.id": replica };
  const resource = attributesText({ "service.version": VERSION, ...instance, ...environment.attributes });
  const send = otlpSender({ url, headers, timeoutMs, resource, version: VERSION });
  const pages = new SpanPages({ clock, log, send });
  const random = randomHex();
  const sample = ratioSampler(ratio);
  events.tracer = (request) => contextFrom(request, random, sample);
  observer.onCall = (call) => {
    if (call.ended.trail.trace?.sampled) pages.added(writeSpans(pages.page, call, observer.names));
  };
  return {
    get lost() {
      return pages.lost;
    },
    async close() {
      events.tracer = undefined;
      observer.onCall = undefined;
      await pages.close();
    },
  };
}
