/** Replaces variables in an entry by values of the user. The rest of the entry stays unchanged. */
import type { Entry } from "../candidate.ts";

export interface Filled {
  readonly entry: Entry;
  /** Names that the entry cannot use. */
  readonly unused: readonly string[];
}

/**
 * A name that the entry does not contain becomes an environment variable of a local server; a remote server
 * cannot use it.
 */
export function fill(entry: Entry, values: ReadonlyMap<string, string>): Filled {
  const used = new Set<string>();
  const put = (text: string): string =>
    text.replaceAll(/\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}/g, (written, name: string) => {
      const value = values.get(name);
      if (value !== undefined) used.add(name);
      return value ?? written;
    });
  const putAll = (texts: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, put(text)]));
  const left = (): string[] => [...values.keys()].filter((name) => !used.has(name));

  if (!("command" in entry)) {
    const headers = entry.headers && { headers: putAll(entry.headers) };
    const filled =
      "url" in entry
        ? { ...entry, url: put(entry.url), ...headers }
        : {
            ...entry,
            openapi: put(entry.openapi),
            ...(entry.baseUrl !== undefined && { baseUrl: put(entry.baseUrl) }),
            ...headers,
          };
    return { entry: filled, unused: left() };
  }
  const [args, known] = [entry.args.map(put), putAll(entry.env)];
  const more = Object.fromEntries(left().map((name) => [name, values.get(name) ?? ""]));
  const env = { ...known, ...more };
  return { entry: { ...entry, args, ...(Object.keys(env).length > 0 && { env }) }, unused: [] };
}
