/** Asks the surface as a client would, so that people and models get the same answers. */
import { type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { createMetaFace } from "../surface/meta/meta.ts";
import type { Scope } from "../surface/scope.ts";
import { person } from "./open.ts";

/** The result of one of our own tools, as written. */
export async function ask(scope: Scope, tool: string, args: unknown): Promise<Raw> {
  return await createMetaFace(scope).handle({
    method: "tools/call",
    params: toRaw({ name: tool, arguments: args }),
    origin: person,
    signal: new CallSignal(),
    uplink: person.uplink,
  });
}

interface Result {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

/** The texts of a result; what is no text is named. */
export function textOf(result: Result): string {
  return (result.content ?? []).map((block) => block.text ?? `[${block.type}]`).join("\n");
}
