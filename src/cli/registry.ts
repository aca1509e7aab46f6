/** The registry and provisioning options of the settings. */
import { folderConsent } from "../config/allowed.ts";
import { UsageError } from "../config/command-line.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { ProvisionOptions } from "../engine/provisioning.ts";
import { homeFolder } from "../home/home.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import { isLoopback } from "../transport/http/guard.ts";
import { configLayers } from "./layers.ts";

type Given = Pick<ReadSettings<Record<never, never>>, "settings" | "given" | "overrides">;

/** Throws UsageError for an invalid URL. */
export function registryOf({
  settings: { registryUrl, registryToken },
  given,
}: Pick<Given, "settings" | "given">): RegistrySource | undefined {
  if (registryUrl === undefined) return undefined;
  const source = { url: registryUrl, token: registryToken };
  checkRegistry(source, given.get("registryUrl") ?? "--registry-url");
  return source;
}

export function provisionOf({ settings, given, overrides }: Given): ProvisionOptions {
  const { env } = process;
  const consent = folderConsent(settings.config, process.cwd(), homeFolder(env));
  const registry = registryOf({ settings, given });
  return { registry, env, overrides, consent, layers: configLayers(settings).check };
}

/** Throws UsageError. It does not contain the address, because that may contain a password. */
export function checkRegistry({ url, token }: RegistrySource, written: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(
      `${written} is not a web address. Write it in full, as "https://registry.example.com".`,
    );
  }
  if (parsed.username || parsed.password) {
    throw new UsageError(
      `${written} contains a user name or password, which would be shown. Remove it, and set METAMCP_REGISTRY_TOKEN if the registry needs a credential.`,
    );
  }
  if (token && parsed.protocol === "http:" && !isLoopback(parsed.hostname))
    throw new UsageError(`METAMCP_REGISTRY_TOKEN is sent only over https, and ${written} is not.`);
}
