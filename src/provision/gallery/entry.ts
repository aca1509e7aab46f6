/** An entry of the gallery as one of `mcpServers`: the runner of its registry, the exact version, and every variable by its name. */
import type { Entry, Variable } from "../candidate.ts";

interface Common {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly link: string;
  readonly variables: readonly Variable[];
  readonly verified: boolean;
}

interface Package {
  readonly registry: "npm" | "pypi" | "oci";
  readonly identifier: string;
  readonly version: string;
  readonly arguments?: readonly string[];
  /** Variables that the server knows by another name. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Remote {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As in data/gallery/schema.json. */
export type Listed = Common &
  (
    | { readonly package: Package; readonly remote?: undefined }
    | { readonly package?: undefined; readonly remote: Remote }
  );

export function entryOf(listed: Listed): Entry {
  if (listed.remote) return listed.remote;
  const { registry, identifier, version, arguments: args = [] } = listed.package;
  const env = environment(listed.package, listed.variables);
  const names = Object.keys(env);
  const set = names.length > 0 ? { env } : {};
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

/** Every variable that is not an argument already. */
function environment(
  { arguments: args = [], env = {} }: Package,
  variables: readonly Variable[],
): Readonly<Record<string, string>> {
  const used = [...args, ...Object.values(env)].join("\n");
  const own = variables.map(({ name }) => name).filter((name) => !used.includes(`\${${name}}`));
  return { ...Object.fromEntries(own.map((name) => [name, `\${${name}}`])), ...env };
}
