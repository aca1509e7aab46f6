/** Builds the environment that a registry entry declares. Refuses fixed values for variables that decide what a runner downloads and loads. */
import { isVariableName } from "./pattern.ts";
import type { Placeholders } from "./placeholders.ts";
import type { KeyValue } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

/**
 * Trust in a package covers only the package itself. `npm_config_registry` would download another package with the same
 * name; `NODE_OPTIONS` and `LD_PRELOAD` would load other code into it.
 */
const RUNNER_VARIABLES = new RegExp(
  `^(?:${[
    "PATH|HOME|USERPROFILE|SHELL|COMSPEC|PATHEXT|IFS|BASH_ENV|TMPDIR|XDG_.*|METAMCP_.*|.*_PROXY",
    "LD_.*|DYLD_.*|GCONV_PATH|SSL_.*|GIT_(?:SSH|EXEC|CONFIG|PROXY|SSL|TEMPLATE).*",
    "NODE_(?:OPTIONS|PATH|EXTRA|TLS|REPL|V8|ICU|USE).*|npm_(?:config|execpath|node|lifecycle|package)_?.*",
    "PYTHON(?!UNBUFFERED|IOENCODING|UTF8|DONTWRITE).*|VIRTUAL_ENV|UV_.*|PIP_.*",
    "DOCKER_.*|BUILDKIT_.*|CONTAINER_HOST|DOTNET_.*|NUGET_.*|COREHOST_.*|COMPlus_.*|CORECLR_.*|MSBUILD.*",
  ].join("|")})$`,
  "i",
);

export function environmentOf(
  variables: readonly KeyValue[] = [],
  placeholders: Placeholders,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map((variable) => {
      const { name } = variable;
      if (!isVariableName(name)) throw new UnsupportedEntry("the name of an environment variable is invalid");
      const fixed = variable.value ?? variable.default;
      if (fixed !== undefined && RUNNER_VARIABLES.test(name))
        throw new UnsupportedEntry(`it sets ${name}, which it must not set`);
      return [name, placeholders.textOf(variable, name, true)];
    }),
  );
}
