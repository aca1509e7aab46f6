/** Chooses the few lines of a failed process that tell why it failed. Pure. */

/** Lines that say nothing about a failure: npm's advertisements, hints and log paths. */
const NOISE =
  /^npm (notice|warn|WARN)\b|^npm (error|ERR!)(?: \d{3})?$|^npm (error|ERR!) (A complete log|Log files|.*_logs\/|You can rerun|(?:404 )?Note that you can|(?:404 )?tarball, folder)|^\(Use `node --trace|^\(node:\d+\)|^\[notice\]/;
const TELLING =
  /error|exception|fatal|panic|fail|cannot|could not|not found|missing|denied|refused|invalid|required/i;

/**
 * At most `count` lines in their order. If there are more, the first two that look like the reason and the
 * last one, because some programs print the reason first and details after it, others the other way round;
 * then the last lines.
 */
export function tellingLines(lines: readonly string[], count: number): string[] {
  const useful = lines.filter((line) => !NOISE.test(line.trimStart()));
  if (useful.length === 0) return lines.slice(-count);
  const telling = [...useful.keys()].filter((at) => TELLING.test(useful[at] as string));
  const order = [...telling.slice(0, 2), ...telling.slice(-1), ...[...useful.keys()].toReversed()];
  const chosen = [...new Set(order)].slice(0, count);
  return chosen.toSorted((a, b) => a - b).map((at) => useful[at] as string);
}
