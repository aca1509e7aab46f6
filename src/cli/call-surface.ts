/**
 * Calls MetaMCP's own tools through a surface, as a client does, so that people and models get the same
 * results.
 */
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { joinObject, members } from "../rpc/slice.ts";
import { createMetaSurface } from "../surface/meta/meta.ts";
import { RequestTimeout } from "../surface/metatools/request-timeout.ts";
import type { Scope } from "../surface/scope.ts";
import type { ClientRequest } from "../surface/surface.ts";
import { person } from "./person.ts";

/** Calls a tool of the meta surface. Returns the result unparsed. */
export async function callMeta(scope: Scope, tool: string, args: Raw, timeoutMs?: number): Promise<Raw> {
  const request = requestFor(tool, args, undefined);
  const timeout = new RequestTimeout(scope.clock, request.signal, timeoutMs);
  const late = (): MetaMcpError =>
    new MetaMcpError("timeout", `There was no result within ${timeoutMs} ms (--timeout).`);
  try {
    const result = await createMetaSurface(unbounded(scope), { notify: false }).handle(
      timeout.applyTo(request),
    );
    if (timeout.expired) throw late();
    return result;
  } catch (error) {
    throw timeout.expired ? late() : error;
  } finally {
    timeout.release();
  }
}

/** Calls a tool of the metatools surface. `onProgress` gets its progress messages. */
export async function callMetatools(
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

/**
 * A scope without a limit of result size, because no context window has to be spared. Its hints name commands
 * instead of tools.
 */
function unbounded(scope: Scope): Scope {
  return { ...scope, finder: '"metamcp search"', maxResultBytes: () => Number.POSITIVE_INFINITY };
}

interface Block {
  readonly type: string;
  readonly text?: string;
  /** Base64, of an image or audio. */
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string; readonly blob?: string };
}

export interface Result {
  readonly isError?: boolean;
  readonly content?: readonly Block[];
  readonly structuredContent?: unknown;
}

/** The text of a result. Blocks without text are shown by type, MIME type and URI. */
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
