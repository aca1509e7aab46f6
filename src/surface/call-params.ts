/**
 * Reads the params of a tool call of a client and writes those for the child. This is on the path of every
 * call, so it allocates as little as possible.
 */
import { asRaw, fromLatin1, jsonLatin1, type Raw, scalarOf, toLatin1, toRaw } from "../kernel/raw.ts";
import { KNOWN_NAME, KNOWN_OBJECT, SHORT } from "../rpc/short.ts";
import { joinObject, members, withMemberDeduplicated } from "../rpc/slice.ts";

export interface GivenParams {
  /** A string in a valid request. */
  readonly name: unknown;
  readonly args: Raw | undefined;
  readonly meta: Raw | undefined;
  /** The params may have further members. */
  readonly others: boolean;
}

const USUAL = new RegExp(
  `^\\{"name":"(${KNOWN_NAME})","arguments":(${KNOWN_OBJECT})(?:,"_meta":(${KNOWN_OBJECT}))?\\}$`,
);
const BEFORE_META = ',"_meta":'.length;

export function readParams(params: Raw | undefined): GivenParams {
  if (!params) return { name: undefined, args: undefined, meta: undefined, others: false };
  return (params.length <= SHORT && readUsual(params)) || readAny(params);
}

function readUsual(params: Raw): GivenParams | undefined {
  const found = USUAL.exec(toLatin1(params));
  if (!found) return undefined;
  const args = found[2] as string;
  const meta = found[3];
  const last = params.length - 1;
  const end = meta === undefined ? last : last - meta.length - BEFORE_META;
  return {
    name: found[1],
    args: asRaw(params.subarray(end - args.length, end)),
    meta: meta === undefined ? undefined : asRaw(params.subarray(last - meta.length, last)),
    others: false,
  };
}

function readAny(params: Raw): GivenParams {
  const [name, args, meta] = members(params, ["name", "arguments", "_meta"]);
  return { name: scalarOf(name), args, meta, others: true };
}

export interface CallParts {
  /** The child's name of the tool. */
  readonly tool: string;
  readonly args: Raw;
  /** `_meta` of the client's request. */
  readonly meta?: Raw | undefined;
  /** The whole params if the client called this tool directly. Further members are then forwarded too. */
  readonly written?: Raw | undefined;
}

export function callParams({ tool, args, meta, written }: CallParts): Raw {
  if (written) return withMemberDeduplicated(written, "name", toRaw(tool));
  if (args.length <= SHORT && !meta)
    return fromLatin1(`{"name":${jsonLatin1(tool)},"arguments":${toLatin1(args)}}`);
  return joinObject([
    ["name", toRaw(tool)],
    ["arguments", args],
    ["_meta", meta],
  ]);
}
