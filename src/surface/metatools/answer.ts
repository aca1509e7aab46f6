/** How the metatools answer: the value as structured content and a few words as text, so that nothing is paid for twice. */
import { joinArray } from "../../catalog/json-array.ts";
import type { Origin } from "../../kernel/call.ts";
import type { MetaMcpError } from "../../kernel/errors.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import { errorObject } from "../failure.ts";

export interface Answer {
  readonly structured: Raw;
  /** For people, and for clients that show only this. */
  readonly text: string;
  /** What must be read beside the value. */
  readonly note?: string | undefined;
  /** Further content: images, files, links. */
  readonly blocks?: readonly Raw[];
  readonly meta?: Raw | undefined;
  readonly failed?: boolean;
}

/** A client whose protocol version knows no structured content gets the value as text. */
export function answer({ textOnly }: Origin, told: Answer): Raw {
  const { structured, text, note, blocks = [], meta, failed } = told;
  const words = [textOnly ? structured.toString() : text, ...(note === undefined ? [] : [note])];
  return joinObject([
    ["content", joinArray([...words.map((word) => toRaw({ type: "text", text: word })), ...blocks])],
    ["structuredContent", textOnly ? undefined : structured],
    ["isError", failed ? toRaw(true) : undefined],
    ["_meta", meta],
  ]);
}

export interface Beside extends Pick<Answer, "meta"> {
  /** What is known beside the error. */
  readonly more?: readonly (readonly [string, Raw | undefined])[];
  readonly blocks?: readonly Raw[] | undefined;
}

export function failure(
  origin: Origin,
  error: MetaMcpError,
  { more = [], blocks = [], meta }: Beside = {},
): Raw {
  return answer(origin, {
    structured: joinObject([["error", errorObject(error)], ...more]),
    text: `${error.code}: ${error.message}`,
    blocks,
    meta,
    failed: true,
  });
}
