/**
 * What one layer does, from its options: `600 per minute and user`. Undefined for kinds without a sentence.
 */
import { duration } from "../format.ts";
import { pipelineTexts } from "../texts/pipeline.ts";
import type { LayerEntry } from "./layer-entry.ts";

const texts = pipelineTexts.summaries;

export function summaryOf(entry: LayerEntry): string | undefined {
  const text = textOf(entry);
  return text === undefined || text === "" ? undefined : text;
}

function textOf({ use, ...options }: LayerEntry): string | undefined {
  const { requests, per, by, max, queue, allow, deny, readOnly, destructive, labels, rules } = options;
  const { detect, action, ttlMs, tools, timeoutMs, deadlineMs } = options;
  const args = options["arguments"];
  switch (use) {
    case "rate-limit":
      return texts.rate(wordOf(requests), timeText(per), listText(by ?? "user"));
    case "concurrency":
      return texts.concurrency(wordOf(max), queue ? wordOf(queue) : undefined, listText(by));
    case "filter":
      return [
        allow && texts.only(listText(allow)),
        deny && texts.without(listText(deny)),
        readOnly && texts.readOnly,
        destructive === false && texts.notDestructive,
        labels && texts.labels(listText(labels)),
      ]
        .filter(Boolean)
        .join(", ");
    case "policy":
      return texts.policy(Array.isArray(rules) ? rules.length : 0);
    case "redact":
      return texts.redact(action === "block", Array.isArray(detect) ? detect.map(nameOf).join(", ") : "");
    case "cache":
      return texts.cache(listText(tools), typeof ttlMs === "number" ? duration(ttlMs) : timeText(ttlMs));
    case "timeout":
      return texts.timeout(timeText(timeoutMs ?? deadlineMs));
    case "audit":
      return args === undefined ? undefined : texts.audit(wordOf(args));
    default:
      return undefined;
  }
}

function nameOf(one: unknown): string {
  return wordOf(typeof one === "object" && one !== null ? (one as { name?: unknown }).name : one);
}

function listText(value: unknown): string {
  return Array.isArray(value) ? value.map(wordOf).join(", ") : wordOf(value);
}

function timeText(value: unknown): string {
  return typeof value === "number" ? duration(value) : wordOf(value);
}

function wordOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? `${value}` : "";
}
