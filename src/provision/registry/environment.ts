/** The environment of a server, as an entry declares it. Refuses values of a stranger for variables that decide what a runner fetches and loads. */
import type { Blanks } from "./blanks.ts";
import { Misfit } from "./misfit.ts";
import { isVariableName } from "./pattern.ts";
import type { KeyValue } from "./server-json.ts";

/**
 * A trusted package is trusted as its publisher made it: `npm_config_registry` would fetch another one by its name,
 * `NODE_OPTIONS` and `LD_PRELOAD` would load something beside it.
 */
const DECIDES = new RegExp(
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
  blanks: Blanks,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map((variable) => {
      const { name } = variable;
      if (!isVariableName(name)) throw new Misfit("the name of an environment variable is invalid");
      const fixed = variable.value ?? variable.default;
      if (fixed !== undefined && DECIDES.test(name))
        throw new Misfit(`it sets ${name}, which it must not set`);
      return [name, blanks.write(variable, name, true)];
    }),
  );
}
