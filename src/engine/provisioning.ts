/** Connects provisioning with the engine. Its code is loaded when somebody first requests a server. */

import type { CatalogLoader } from "../catalog/catalog-loader.ts";
import { allowWritten } from "../config/allowed.ts";
import { type LoadOptions, parseConfig, readConfigText } from "../config/load.ts";
import type { Config } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Provisioner } from "../provision/provision.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import type { Registry } from "../provision/registry/registry.ts";
import type { Scope } from "../surface/scope.ts";
import type { Trials } from "./trial.ts";

/** The same load options as for the config, so that new entries are read in the same way. */
export interface ProvisionOptions extends LoadOptions {
  /** Default: the official registry. */
  readonly registry?: RegistrySource | undefined;
}

interface EngineParts {
  readonly home: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the catalog view of a caller. */
  readonly view: Scope["view"];
  readonly loader: CatalogLoader;
  readonly trials: Trials;
  readonly connect: Scope["connect"];
  readonly config: () => Config;
  readonly apply: (config: Config) => void;
}

export interface Provision {
  readonly provision: NonNullable<Scope["provision"]>;
  /** Stops reading the registry. */
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

async function load({ registry: source, ...options }: ProvisionOptions, parts: EngineParts): Promise<Loaded> {
  const { env } = options;
  const [
    { Provisioner: Engine },
    { Installer },
    { ConfigFileWriter },
    { personalPolicy },
    { Registry: Client },
    { galleryCandidates },
  ] = await Promise.all([
    import("../provision/provision.ts"),
    import("../provision/install.ts"),
    import("../provision/config-file-writer.ts"),
    import("../provision/personal-policy.ts"),
    import("../provision/registry/registry.ts"),
    import("../provision/gallery/gallery.ts"),
  ]);
  const { home, clock, log, view, loader, trials, config } = parts;
  const registry = new Client({ source, home, env, clock, log });
  const writer = new ConfigFileWriter({
    home,
    env,
    now: () => new Date(),
    configPath: () => config().path,
    written: (entry) => allowWritten(config().path, [entry], home),
    reload: () => reload(parts, options),
  });
  const installer = new Installer({
    env,
    clock,
    log,
    writer,
    async unpack(candidate, signal) {
      const { fetchBundle } = await import("../provision/registry/bundle.ts");
      return await fetchBundle(candidate, { home, env, clock, signal });
    },
    trial: (spec, signal) => trials.run(spec, signal),
    async connect(server, origin) {
      (await parts.connect(server, origin)).release();
      return view(origin).snapshot.listings.get(server)?.tools ?? [];
    },
  });
  const provisioner = new Engine({
    home,
    log,
    env,
    view,
    loader,
    registry,
    gallery: { candidates: async () => ({ candidates: await galleryCandidates() }) },
    servers: () => [...config().servers.keys()],
    policy: personalPolicy({ installer, writer, withheld: () => config().withheld?.reason }),
  });
  return { provisioner, registry };
}

/**
 * Applies the written file, even if nobody watches it. Reads it again at the end, so that a change made
 * meanwhile is not lost.
 */
async function reload({ config, apply }: EngineParts, options: LoadOptions): Promise<void> {
  const { path } = config();
  for (let text = await readConfigText(path); ; ) {
    apply(await parseConfig(path, text, options));
    const after = await readConfigText(path);
    if (after === text) return;
    text = after;
  }
}
