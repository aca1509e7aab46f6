/**
 * Images and audio in results. They have a budget of their own: a model looks at them whole, and cannot page
 * through them as through a text.
 */
import type { Raw } from "../../kernel/raw.ts";
import { elements, isArray, isObject, isString, member, textAt } from "../../rpc/slice.ts";
import { isBlock } from "./block.ts";

const MEDIA_BUDGET = 10 * 1024 * 1024;

/** The blocks of a result that are images or audio, as far as they fit their budget. */
export interface Media {
  readonly shown: readonly Raw[];
  readonly bytes: number;
  /** Some did not fit. */
  readonly cut: boolean;
}

/**
 * `room`: how many bytes may be shown; `budget` is that of the rest of the result, and a larger one counts
 * for media too.
 */
export function mediaIn(blocks: readonly Raw[], budget: number, room = mediaBudget(budget)): Media {
  const shown: Raw[] = [];
  let bytes = 0;
  let cut = false;
  for (const block of blocks) {
    if (!isMedia(block)) continue;
    if (bytes + block.length <= room) {
      shown.push(block);
      bytes += block.length;
    } else cut = true;
  }
  return { shown, bytes, cut };
}

export function mediaBudget(budget: number): number {
  return Math.max(MEDIA_BUDGET, budget);
}

/** Whether a result is returned whole. A short one is not looked into. */
export function isWithin(result: Raw, budget: number): boolean {
  if (result.length <= budget) return true;
  const content = isObject(result) ? member(result, "content") : undefined;
  if (!content || !isArray(content)) return false;
  const { bytes, cut } = mediaIn(elements(content), budget);
  return !cut && result.length - bytes <= budget;
}

export function isMedia(block: Raw): boolean {
  const type = isObject(block) ? member(block, "type") : undefined;
  if (!type || !isString(type)) return false;
  const name = textAt(type, 0);
  return (name === "image" || name === "audio") && isBlock(block);
}
