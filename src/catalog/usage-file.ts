/** The format of a file of examples: arguments as written, by identity and tool. No I/O. */
import { asRaw, type Raw } from "../kernel/raw.ts";
import { elements, entries, isObject, joinObject } from "../rpc/slice.ts";
import { isArray, joinArray } from "./json-array.ts";

/** Newest last. */
export type ToolExamples = ReadonlyMap<string, readonly Raw[]>;
/** By identity, because two projects may use one name for different servers. Newest last. */
export type UsageFile = ReadonlyMap<string, ToolExamples>;

/** Throws if the text is not JSON. Skips parts that do not have this format. */
export function decodeUsage(text: string): UsageFile {
  JSON.parse(text);
  // A user may have reformatted the file. Messages are sent as single lines, so an example must not contain a line break.
  const file = asRaw(Buffer.from(text.trim().replaceAll(/[\r\n]/g, " ")));
  return new Map(
    entries(file)
      .filter(([, tools]) => isObject(tools))
      .map(([identity, tools]) => [identity, examplesIn(tools)]),
  );
}

function examplesIn(tools: Raw): ToolExamples {
  return new Map(
    entries(tools)
      .filter(([, list]) => isArray(list))
      .map(([tool, list]) => [tool, elements(list).filter(isObject)]),
  );
}

export function encodeUsage(file: UsageFile): Raw {
  return joinObject(
    [...file].map(([identity, tools]) => [
      identity,
      joinObject([...tools].map(([tool, examples]) => [tool, joinArray(examples)])),
    ]),
  );
}
