/** Joins provisioning with the engine. Nothing of it is loaded before someone asks for a server. */
import type { Catalog } from "./catalog/catalog.ts";
import type { Learner } from "./catalog/learn.ts";
import type { Overrides } from "./config/check.ts";
import { parseConfig, readConfigText } from "./config/load.ts";
import type { Config } from "./config/spec.ts";
import type { Env } from "./home/home.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Log } from "./kernel/log.ts";
import type { Provisioner } from "./provision/provision.ts";
import type { Scope } from "./surface/scope.ts";
import type { Trials } from "./trial.ts";

export interface ProvisionOptions {
  /** The official registry unless given. */
  readonly registryUrl?: string | undefined;
  /** As the config is read: what stands in it means the same to us. */
  readonly env: Env;
  readonly overrides?: Overrides;
}

interface EngineParts {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalog: Catalog;
  readonly learner: Learner;
  readonly trials: Trials;
  readonly connect: Scope["connect"];
  config(): Config;
  apply(config: Config): void;
}

export function lazyProvision(
  options: ProvisionOptions,
  parts: EngineParts,
): NonNullable<Scope["provision"]> {
  let provisioner: Promise<Provisioner> | undefined;
  return async (wanted, seeker) => {
    provisioner ??= load(options, parts);
    return await (await provisioner).provision(wanted, seeker);
  };
}

async function load(options: ProvisionOptions, parts: EngineParts): Promise<Provisioner> {
  const [{ Provisioner }, { Registry }, { galleryCandidates }] = await Promise.all([
    import("./provision/provision.ts"),
    import("./provision/registry/registry.ts"),
    import("./provision/gallery/gallery.ts"),
  ]);
  const { registryUrl, env } = options;
  const { home, clock, log, catalog, learner, trials, config } = parts;
  return new Provisioner({
    home,
    clock,
    log,
    env,
    catalog,
    learner,
    registry: new Registry({ baseUrl: registryUrl, home, env, clock, log }),
    gallery: { candidates: async () => ({ candidates: await galleryCandidates() }) },
    servers: () => [...config().servers.keys()],
    now: () => new Date(),
    configPath: () => config().path,
    unpack: () => Promise.reject(new Error("bundles cannot be unpacked")),
    trial: (spec, signal) => trials.run(spec, signal),
    reload: () => reload(options, parts),
    async connect(server, origin) {
      (await parts.connect(server, origin)).release();
      return catalog.snapshot.listings.get(server)?.tools ?? [];
    },
  });
}

/** With or without somebody who follows the file. Read again at the end: who changed it meanwhile must not be undone. */
async function reload({ env, overrides = {} }: ProvisionOptions, parts: EngineParts): Promise<void> {
  const { path } = parts.config();
  for (let text = await readConfigText(path); ; ) {
    parts.apply(await parseConfig(path, text, { env, overrides }));
    const after = await readConfigText(path);
    if (after === text) return;
    text = after;
  }
}
