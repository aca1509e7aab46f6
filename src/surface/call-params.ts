/** What a child gets to see of a tool call. Written from parts as they came; made for every call, so it is made of as little as can be. */
import { asRaw, type Raw } from "../kernel/raw.ts";
import { joinObject } from "../rpc/slice.ts";

const NAME = Buffer.from('{"name":');
const ARGUMENTS = Buffer.from(',"arguments":');
const CLOSE = Buffer.from("}");

export function callParams(tool: Raw, args: Raw, meta: Raw | undefined): Raw {
  if (!meta) return asRaw(Buffer.concat([NAME, tool, ARGUMENTS, args, CLOSE]));
  return joinObject([
    ["name", tool],
    ["arguments", args],
    ["_meta", meta],
  ]);
}
