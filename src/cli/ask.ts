/** Asks the surface as a client would, so that people and models get the same answers. */
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { joinObject, members } from "../rpc/slice.ts";
import { createMetaSurface } from "../surface/meta/meta.ts";
import type { Scope } from "../surface/scope.ts";
import type { ClientRequest } from "../surface/surface.ts";
import { person } from "./person.ts";

/** The result of one of our own tools, as written. */
export async function ask(scope: Scope, tool: string, args: Raw): Promise<Raw> {
  return await createMetaSurface(unbounded(scope)).handle(requestFor(tool, args, undefined));
}

/** The same of the metatools. `onProgress` hears what is under way. */
export async function askMetatool(
  scope: Scope,
  tool: string,
  args: Raw,
  onProgress?: (message: string) => void,
): Promise<Raw> {
  const { createMetatoolsSurface } = await import("../surface/metatools/metatools.ts");
  const surface = createMetatoolsSurface(unbounded(scope), { notify: false });
  return await surface.handle(requestFor(tool, args, onProgress));
}

function requestFor(
  tool: string,
  args: Raw,
  onProgress: ((message: string) => void) | undefined,
): ClientRequest {
  return {
    method: "tools/call",
    params: joinObject([
      ["name", toRaw(tool)],
      ["arguments", args],
      ["_meta", onProgress && toRaw({ progressToken: 1 })],
    ]),
    origin: person,
    signal: new CallSignal(),
    uplink: {
      ...person.uplink,
      notify(method, params) {
        const [message] = method === "notifications/progress" && params ? members(params, ["message"]) : [];
        if (message) onProgress?.(String(fromRaw(message)));
      },
    },
  };
}

/** People and programs get results whole: here no context window is to be spared. And they have commands, not tools. */
function unbounded(scope: Scope): Scope {
  return { ...scope, finder: '"metamcp search"', maxResultBytes: () => Number.POSITIVE_INFINITY };
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
