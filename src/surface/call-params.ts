/** What a child gets to see of a tool call: the only place that writes it. Made for every call, so it is made of as little as can be. */
import { asRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { joinObject, onceWith } from "../rpc/slice.ts";

export interface CallParts {
  /** The tool as the child knows it. */
  readonly tool: string;
  readonly args: Raw;
  /** `_meta` of the client's request. */
  readonly meta?: Raw | undefined;
  /** The params of a client that called this very tool: what else is in them passes too. */
  readonly written?: Raw | undefined;
}

const NAME = Buffer.from('{"name":');
const ARGUMENTS = Buffer.from(',"arguments":');
const CLOSE = Buffer.from("}");

export function callParams({ tool, args, meta, written }: CallParts): Raw {
  const name = toRaw(tool);
  if (written) return onceWith(written, "name", name);
  if (!meta) return asRaw(Buffer.concat([NAME, name, ARGUMENTS, args, CLOSE]));
  return joinObject([
    ["name", name],
    ["arguments", args],
    ["_meta", meta],
  ]);
}
