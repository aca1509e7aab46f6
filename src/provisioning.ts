/** Joins provisioning with the engine. Nothing of it is loaded before someone asks for a server. */
import type { Catalog } from "./catalog/catalog.ts";
import type { Learner } from "./catalog/learn.ts";
import type { Overrides } from "./config/check.ts";
import { type LoadOptions, parseConfig, readConfigText } from "./config/load.ts";
import type { Config } from "./config/spec.ts";
import type { Env } from "./home/home.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Log } from "./kernel/log.ts";
import type { Provisioner } from "./provision/provision.ts";
import type { Registry } from "./provision/registry/registry.ts";
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
  readonly config: () => Config;
  readonly apply: (config: Config) => void;
}

export interface Provision {
  readonly provision: NonNullable<Scope["provision"]>;
  /** Ends what is still being read. */
  close(): Promise<void>;
}

export function lazyProvision(options: ProvisionOptions, parts: EngineParts): Provision {
  let loading: Promise<Loaded> | undefined;
  return {
    async provision(wanted, seeker) {
      loading ??= load(options, parts).catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return await (await loading).provisioner.provision(wanted, seeker);
    },
    close: async () => await (await loading)?.registry.close(),
  };
}

interface Loaded {
  readonly provisioner: Provisioner;
  readonly registry: Registry;
}

async function load({ registryUrl, env, overrides }: ProvisionOptions, parts: EngineParts): Promise<Loaded> {
  const [{ Provisioner: Engine }, { Registry: Client }, { galleryCandidates }] = await Promise.all([
    import("./provision/provision.ts"),
    import("./provision/registry/registry.ts"),
    import("./provision/gallery/gallery.ts"),
  ]);
  const { home, clock, log, catalog, learner, trials, config } = parts;
  const registry = new Client({ baseUrl: registryUrl, home, env, clock, log });
  const provisioner = new Engine({
    home,
    clock,
    log,
    env,
    catalog,
    learner,
    registry,
    gallery: { candidates: async () => ({ candidates: await galleryCandidates() }) },
    servers: () => [...config().servers.keys()],
    now: () => new Date(),
    configPath: () => config().path,
    async unpack(candidate, signal) {
      const { fetchBundle } = await import("./provision/registry/bundle.ts");
      return await fetchBundle(candidate, { home, env, clock, signal });
    },
    trial: (spec, signal) => trials.run(spec, signal),
    reload: () => reload(parts, { env, ...(overrides && { overrides }) }),
    async connect(server, origin) {
      (await parts.connect(server, origin)).release();
      return catalog.snapshot.listings.get(server)?.tools ?? [];
    },
  });
  return { provisioner, registry };
}

/** With or without somebody who follows the file. Read again at the end: who changed it meanwhile must not be undone. */
async function reload({ config, apply }: EngineParts, options: LoadOptions): Promise<void> {
  const { path } = config();
  for (let text = await readConfigText(path); ; ) {
    apply(await parseConfig(path, text, options));
    const after = await readConfigText(path);
    if (after === text) return;
    text = after;
  }
}
