/**
 * Reads the arguments of mcp_call. This is the hot path: the usual form is read by one regular expression;
 * `readInput` reads all other forms and explains errors.
 */
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toLatin1 } from "../../kernel/raw.ts";
import { KNOWN_NAME, KNOWN_OBJECT, SHORT } from "../../rpc/short.ts";
import { readInput } from "../input.ts";
import { CALL } from "./tools.ts";

export interface CallInput {
  readonly server: string;
  readonly tool: string;
  readonly args: Raw;
}

const USUAL = new RegExp(
  `^\\{"server":"(${KNOWN_NAME})","tool":"(${KNOWN_NAME})"(?:,"args":(${KNOWN_OBJECT}))?\\}$`,
);

export function readCall(given: Raw | undefined): CallInput {
  return (given && given.length <= SHORT && readUsual(given)) || readAny(given);
}

function readUsual(given: Raw): CallInput | undefined {
  const found = USUAL.exec(toLatin1(given));
  if (!found) return undefined;
  const args = found[3];
  const last = given.length - 1;
  return {
    server: found[1] as string,
    tool: found[2] as string,
    args: args === undefined ? EMPTY_OBJECT : asRaw(given.subarray(last - args.length, last)),
  };
}

function readAny(given: Raw | undefined): CallInput {
  const input = readInput(CALL, given);
  return {
    server: fromRaw(input.get("server") as Raw) as string,
    tool: fromRaw(input.get("tool") as Raw) as string,
    args: input.get("args") ?? EMPTY_OBJECT,
  };
}
