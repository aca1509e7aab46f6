/**
 * Hands the arguments of a call over to the page Try it. Not in the address, which ends up in histories and
 * logs.
 */
let kept: { readonly tool: string; readonly args: string } | undefined;

/** `tool` is `server:tool`, with the uuid of the server. */
export function keepArguments(tool: string, args: unknown): void {
  kept = { tool, args: JSON.stringify(args) };
}

/** The arguments, if the last kept ones are of this tool. A reload of the page loses them. */
export function keptArguments(tool: string): string | undefined {
  return kept?.tool === tool ? kept.args : undefined;
}
