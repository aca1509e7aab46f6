/**
 * Tool ids are `server:tool`. They are split at the first colon, because only tool names may contain colons.
 */

export interface ToolId {
  readonly server: string;
  readonly tool: string;
}

/** Undefined if a part is missing. */
export function readToolId(id: string): ToolId | undefined {
  const colon = id.indexOf(":");
  return colon > 0 && colon < id.length - 1
    ? { server: id.slice(0, colon), tool: id.slice(colon + 1) }
    : undefined;
}

export function writeToolId({ server, tool }: ToolId): string {
  return `${server}:${tool}`;
}
