/** Returns a path of this gateway. Undefined for anything that a browser could read as another host. */
export function localPath(written: string): string | undefined {
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(written)) return undefined;
  const { origin, pathname, search, hash } = new URL(written, "http://localhost");
  return origin === "http://localhost" && !pathname.startsWith("//")
    ? `${pathname}${search}${hash}`
    : undefined;
}
