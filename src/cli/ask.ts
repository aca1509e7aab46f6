/** Asks the surface as a client would, so that people and models get the same answers. */
import { type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { joinObject } from "../rpc/slice.ts";
import { createMetaFace } from "../surface/meta/meta.ts";
import type { Scope } from "../surface/scope.ts";
import { person } from "./open.ts";

/** The result of one of our own tools, as written. */
export async function ask(scope: Scope, tool: string, args: Raw): Promise<Raw> {
  return await createMetaFace(unbounded(scope)).handle({
    method: "tools/call",
    params: joinObject([
      ["name", toRaw(tool)],
      ["arguments", args],
    ]),
    origin: person,
    signal: new CallSignal(),
    uplink: person.uplink,
  });
}

/** People and programs get results whole: here no context window is to be spared. */
function unbounded(scope: Scope): Scope {
  return { ...scope, maxResultBytes: () => Number.POSITIVE_INFINITY };
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string };
}

export interface Result {
  readonly isError?: boolean;
  readonly content?: readonly Block[];
  readonly structuredContent?: unknown;
}

/** What a person can read of a result; what is no text is named. */
export function textOf({ content = [], structuredContent }: Result): string {
  if (content.length === 0 && structuredContent !== undefined) {
    return JSON.stringify(structuredContent, undefined, 2);
  }
  return content.map(blockText).join("\n");
}

function blockText({ type, text, mimeType, uri, resource }: Block): string {
  const known = [type, mimeType, uri ?? resource?.uri].filter((part) => part !== undefined);
  return text ?? resource?.text ?? `[${known.join(" ")}]`;
}
