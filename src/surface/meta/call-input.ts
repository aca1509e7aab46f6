/** Reads what mcp_call was given. The hot path: what is written as it mostly is is read in one go; all else is left to who explains what is wrong. */
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toLetters } from "../../kernel/raw.ts";
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
  const found = USUAL.exec(toLetters(given));
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
