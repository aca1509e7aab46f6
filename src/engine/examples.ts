/** Stores examples from successful calls, if the config enables that. Loads nothing otherwise. */
import type { Usage } from "../catalog/usage.ts";
import { identityOf } from "../config/identity.ts";
import { secretsOf } from "../config/secrets.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import { needlesOf } from "../kernel/secret.ts";
import type { ExampleRecorder } from "../middleware/record-examples.ts";

export interface Examples extends ExampleRecorder {
  of(server: string, tool: string): Promise<readonly Raw[]>;
  flush(): Promise<void>;
}

interface Parts {
  readonly home: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly config: () => Config;
}

export function createExamples({ config, ...parts }: Parts): Examples {
  let usage: Promise<Usage> | undefined;
  let noted: Promise<unknown> = Promise.resolve();
  const open = (): Promise<Usage> => {
    usage ??= import("../catalog/usage.ts").then((module) => new module.Usage(parts));
    return usage;
  };
  const specOf = (server: string): ServerSpec | undefined =>
    config().examplesFromUsage ? config().servers.get(server) : undefined;
  return {
    enabled: () => config().examplesFromUsage,
    record(server, tool, args) {
      const spec = specOf(server);
      if (!spec) return;
      // The buffer of the message may be reused before the example is written.
      const own = Buffer.from(args) as typeof args;
      const note = open()
        .then((kept) =>
          kept.worked({ server, identity: identityOf(spec), tool }, own, needlesOf(secretsOf(spec))),
        )
        .catch((error: unknown) => parts.log.warn("an example cannot be stored", { server, error }));
      noted = Promise.all([noted, note]);
    },
    async of(server, tool) {
      const spec = specOf(server);
      return spec ? await (await open()).examplesOf(server, identityOf(spec), tool) : [];
    },
    async flush() {
      await noted;
      await (await usage)?.flush();
    },
  };
}
