/** How the metatools answer: many clients show a model only the text, so that it says as much as the structured content. */
import { joinArray } from "../../catalog/json-array.ts";
import type { Origin } from "../../kernel/call.ts";
import type { MetaMcpError } from "../../kernel/errors.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import { errorObject, errorText } from "../failure.ts";

export interface ToolAnswer {
  readonly structured: Raw;
  /** In place of the structured content as JSON, where other words say the same. */
  readonly text?: string | undefined;
  /** What must be read beside the value. */
  readonly note?: string | undefined;
  /** Further content: images, files, links. */
  readonly blocks?: readonly Raw[];
  readonly meta?: Raw | undefined;
  readonly failed?: boolean;
}

/** A client whose protocol version knows no structured content gets the text alone. */
export function answer({ textOnly }: Origin, told: ToolAnswer): Raw {
  const { structured, text = structured.toString(), note, blocks = [], meta, failed } = told;
  const words = note === undefined ? [text] : [text, note];
  return joinObject([
    ["content", joinArray([...words.map((word) => toRaw({ type: "text", text: word })), ...blocks])],
    ["structuredContent", textOnly ? undefined : structured],
    ["isError", failed ? toRaw(true) : undefined],
    ["_meta", meta],
  ]);
}

export interface Beside extends Pick<ToolAnswer, "meta"> {
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
    text: errorText(error),
    blocks,
    meta,
    failed: true,
  });
}
