/** A path of ours, and nothing that a browser takes for another host; undefined for everything else. */
export function ownPath(written: string): string | undefined {
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(written)) return undefined;
  const { origin, pathname, search, hash } = new URL(written, "http://localhost");
  return origin === "http://localhost" && !pathname.startsWith("//")
    ? `${pathname}${search}${hash}`
    : undefined;
}
