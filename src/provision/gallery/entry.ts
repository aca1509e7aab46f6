/**
 * Turns an entry of the gallery into one of `mcpServers`: the runner of its package registry, the exact
 * version, and all variables as `${NAME}`.
 */

import type { ApiEntry, Entry, Variable } from "../candidate.ts";
import type { NewSandbox } from "../new-sandbox.ts";

interface Common {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly link: string;
  readonly lifecycle?: "keep-alive";
  /** What it needs when it is confined. Default: its own folder and the network. */
  readonly sandbox?: NewSandbox;
  readonly variables: readonly Variable[];
  readonly verified: boolean;
}

interface Package {
  readonly registry: "npm" | "pypi" | "oci";
  readonly identifier: string;
  readonly version: string;
  readonly arguments?: readonly string[];
  /** Environment variables whose name differs from the declared variable. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Remote {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As in data/gallery/schema.json. An API is remote too. */
export type GalleryEntry = Common &
  (
    | { readonly package: Package; readonly remote?: undefined }
    | { readonly package?: undefined; readonly remote: Remote | ApiEntry }
  );

export function entryOf(item: GalleryEntry): Entry {
  if (item.remote) return item.remote;
  const { registry, identifier, version, arguments: args = [] } = item.package;
  const env = environment(item.package, item.variables);
  const names = Object.keys(env);
  const set = {
    ...(names.length > 0 && { env }),
    ...(item.lifecycle && { lifecycle: item.lifecycle }),
    ...(item.sandbox && { sandbox: item.sandbox }),
  };
  switch (registry) {
    case "npm":
      return { command: "npx", args: ["-y", `${identifier}@${version}`, ...args], ...set };
    case "pypi":
      return { command: "uvx", args: [`${identifier}@${version}`, ...args], ...set };
    case "oci": {
      const passed = names.flatMap((name) => ["-e", name]);
      const image = `${identifier}:${version}`;
      return { command: "docker", args: ["run", "-i", "--rm", ...passed, image, ...args], ...set };
    }
  }
}

/** Adds every variable that neither the arguments nor `env` use. */
function environment(
  { arguments: args = [], env = {} }: Package,
  variables: readonly Variable[],
): Readonly<Record<string, string>> {
  const used = [...args, ...Object.values(env)].join("\n");
  const own = variables.map(({ name }) => name).filter((name) => !used.includes(`\${${name}}`));
  return { ...Object.fromEntries(own.map((name) => [name, `\${${name}}`])), ...env };
}
