/**
 * Builds the results of the metatools. The text says as much as the structured content, because many clients
 * show only the text to the model.
 */
import { joinArray } from "../../catalog/json-array.ts";
import type { Origin } from "../../kernel/call.ts";
import type { MetaMcpError } from "../../kernel/errors.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import { errorObject, errorText } from "../failure.ts";

export interface ToolAnswer {
  readonly structured: Raw;
  /** Replaces the structured content as JSON in the text, if it says the same. */
  readonly text?: string | undefined;
  /** A further text block. */
  readonly note?: string | undefined;
  /** Further content: images, files, links. */
  readonly blocks?: readonly Raw[];
  readonly meta?: Raw | undefined;
  readonly failed?: boolean;
}

/** A client whose protocol version has no structured content gets only the text. */
export function answer({ textOnly }: Origin, toolAnswer: ToolAnswer): Raw {
  const { structured, text = structured.toString(), note, blocks = [], meta, failed } = toolAnswer;
  const texts = note === undefined ? [text] : [text, note];
  return joinObject([
    ["content", joinArray([...texts.map((part) => toRaw({ type: "text", text: part })), ...blocks])],
    ["structuredContent", textOnly ? undefined : structured],
    ["isError", failed ? toRaw(true) : undefined],
    ["_meta", meta],
  ]);
}

export interface FailureParts extends Pick<ToolAnswer, "meta"> {
  /** Further members of the structured content, beside `error`. */
  readonly more?: readonly (readonly [string, Raw | undefined])[];
  readonly blocks?: readonly Raw[] | undefined;
}

export function failure(
  origin: Origin,
  error: MetaMcpError,
  { more = [], blocks = [], meta }: FailureParts = {},
): Raw {
  return answer(origin, {
    structured: joinObject([["error", errorObject(error)], ...more]),
    text: errorText(error),
    blocks,
    meta,
    failed: true,
  });
}
