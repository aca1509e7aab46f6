/**
 * Images and audio in the value of code: content blocks, lists of them, and results of tools that contain them. They become
 * content of the answer, and the value keeps a remark in their place, because no model can read base64.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isArray, isObject, member, withMember } from "../../rpc/slice.ts";
import { isMedia } from "../result/media.ts";

export interface ValueMedia {
  readonly value: Raw;
  readonly media: readonly Raw[];
}

export function splitMedia(value: Raw): ValueMedia {
  if (isMedia(value)) return { value: withoutData(value), media: [value] };
  if (isArray(value)) return splitList(value);
  const content = isObject(value) ? member(value, "content") : undefined;
  if (!content || !isArray(content)) return { value, media: [] };
  const { value: rest, media } = splitList(content);
  return media.length === 0 ? { value, media } : { value: withMember(value, "content", rest), media };
}

function splitList(list: Raw): ValueMedia {
  const all = elements(list);
  const media = all.filter(isMedia);
  if (media.length === 0) return { value: list, media };
  return { value: joinArray(all.map((one) => (isMedia(one) ? withoutData(one) : one))), media };
}

function withoutData(block: Raw): Raw {
  const bytes = (member(block, "data")?.length ?? 2) - 2;
  return withMember(block, "data", toRaw(`(${bytes.toLocaleString("en")} bytes, shown as content)`));
}
