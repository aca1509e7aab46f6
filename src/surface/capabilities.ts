/** The capabilities that a client is told. */
type Members = Readonly<Record<string, unknown>>;

/** `extensions` are those of servers. Our own are in the capabilities. */
export function withExtensions(capabilities: Members, extensions: Members = {}): Members {
  const all = { ...extensions, ...(capabilities["extensions"] as Members | undefined) };
  return Object.keys(all).length === 0 ? capabilities : { ...capabilities, extensions: all };
}
