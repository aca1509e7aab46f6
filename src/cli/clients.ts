/** Shared by `init` and `import`: the selected clients, and the machine with their files. */
import type { ClientProgram, Machine } from "../clients/client.ts";
import { CLIENTS } from "../clients/table.ts";
import { UsageError } from "../config/command-line.ts";
import { userFolder } from "../home/home.ts";
import { didYouMean } from "../kernel/nearest.ts";

export const machine = (): Machine => ({
  platform: process.platform,
  home: userFolder(process.env),
  env: process.env,
});

/** The clients with these ids. Without names, all clients. */
export function clientsNamed(names: readonly string[]): readonly ClientProgram[] {
  const ids = CLIENTS.map(({ id }) => id);
  for (const name of names) {
    if (ids.includes(name)) continue;
    throw new UsageError(
      `"${name}" is not a known client.${didYouMean(name, ids)} Known: ${ids.join(", ")}.`,
    );
  }
  return names.length === 0 ? CLIENTS : CLIENTS.filter(({ id }) => names.includes(id));
}
