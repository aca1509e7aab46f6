/** Reads what mcp_call was given. The hot path: what is as it should be is read in one go; all else is left to who explains what is wrong. */
import { asRaw, EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { eachMember, isKey } from "../../rpc/slice.ts";
import { readInput } from "../input.ts";
import { CALL } from "./tools.ts";

export interface CallInput {
  readonly server: Raw;
  readonly tool: Raw;
  readonly args: Raw;
}

const QUOTE = 0x22;
const BRACE = 0x7b;

export function readCall(given: Raw | undefined): CallInput {
  let server: Raw | undefined;
  let tool: Raw | undefined;
  let args: Raw = EMPTY_OBJECT;
  let odd = false;
  if (given)
    eachMember(given, (key, from, end) => {
      const value = asRaw(given.subarray(from, end));
      if (value[0] === QUOTE && isKey(given, key, "server")) server = value;
      else if (value[0] === QUOTE && isKey(given, key, "tool")) tool = value;
      else if (value[0] === BRACE && isKey(given, key, "args")) args = value;
      else odd = true;
    });
  if (server && tool && !odd) return { server, tool, args };
  const input = readInput(CALL, given);
  return {
    server: input.get("server") as Raw,
    tool: input.get("tool") as Raw,
    args: input.get("args") ?? EMPTY_OBJECT,
  };
}
