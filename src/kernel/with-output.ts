/**
 * The reason of a failure with what the server printed before. Only for people who may read the output of
 * servers.
 */
export function withOutput(reason: string, output: string | undefined): string {
  if (output === undefined) return reason;
  return `${reason}${/[.!?]$/.test(reason) ? "" : "."} Its output: ${output}`;
}
