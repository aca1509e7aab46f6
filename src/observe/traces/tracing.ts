/** Traces of the calls of a gateway. Never holds a call up: what the collector does not take in time is lost, and counted. */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import type { Events } from "../../kernel/events.ts";
import type { Log } from "../../kernel/log.ts";
import { VERSION } from "../../kernel/version.ts";
import { callRow } from "../call-row.ts";
import type { Names } from "../names.ts";
import type { OtelEnvironment } from "./otel-environment.ts";
import { otlpSender } from "./otlp.ts";
import { SpanPages } from "./span-pages.ts";
import { attributesText, spansText } from "./spans.ts";
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
  const send = otlpSender({ url, headers, timeoutMs, resource, version: VERSION });
  const pages = new SpanPages({ clock, log, send });
  const random = randomHex();
  const sample = ratioSampler(ratio);
  events.tracer = (request) => contextFrom(request, random, sample);
  const stop = events.on((event) => {
    if (event.type !== "call.ended" || !event.trail.trace?.sampled) return;
    pages.add(spansText(callRow(event, names), event, names), event.trail.child ? 2 : 1);
  });
  return {
    get lost() {
      return pages.lost;
    },
    async close() {
      events.tracer = undefined;
      stop();
      await pages.close();
    },
  };
}
