/**
 * The size of what a model gets of a tool: model APIs take the name, the description and the input schema.
 * Title, annotations and output schema stay in the client.
 */
import { perObject } from "../kernel/per-object.ts";
import type { Raw } from "../kernel/raw.ts";
import { elements, member, members } from "./slice.ts";

const KEYS = ["name", "description", "inputSchema"] as const;
const FRAME = Buffer.byteLength('{"name":,"description":,"input_schema":}');

export function modelBytes(definition: Raw): number {
  let size = FRAME;
  for (const part of members(definition, KEYS)) size += part?.length ?? 0;
  return size;
}

/** The same, counted once: a tool stays the same object until its server lists it differently. */
export const toolBytes = perObject(({ definition }: { readonly definition: Raw }) => modelBytes(definition));

/** Of a whole result of `tools/list`. */
export function listBytes(list: Raw): number {
  const tools = member(list, "tools");
  return tools ? elements(tools).reduce((sum, definition) => sum + modelBytes(definition), 0) : 0;
}
