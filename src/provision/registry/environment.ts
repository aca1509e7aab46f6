/**
 * Builds the environment that a registry entry declares. Refuses fixed values for variables that decide what
 * a runner downloads and loads.
 */
import { isRunnerVariable } from "../../kernel/runner-variables.ts";
import { isVariableName } from "./pattern.ts";
import type { Placeholders } from "./placeholders.ts";
import type { KeyValue } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

export function environmentOf(
  variables: readonly KeyValue[] = [],
  placeholders: Placeholders,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    variables.map((variable) => {
      const { name } = variable;
      if (!isVariableName(name)) throw new UnsupportedEntry("the name of an environment variable is invalid");
      const fixed = variable.value ?? variable.default;
      // Trust in a package covers only the package itself. `npm_config_registry` would download another
      // package with the same name; `NODE_OPTIONS` and `LD_PRELOAD` would load other code into it.
      if (fixed !== undefined && isRunnerVariable(name))
        throw new UnsupportedEntry(`it sets ${name}, which it must not set`);
      return [name, placeholders.textOf(variable, name, true)];
    }),
  );
}
