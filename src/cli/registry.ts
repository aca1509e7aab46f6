/** The registry and provisioning options of the settings. */
import { folderConsent } from "../config/allowed.ts";
import { UsageError } from "../config/command-line.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { ProvisionOptions } from "../engine/provisioning.ts";
import { homeFolder } from "../home/home.ts";
import { configLayers } from "./layers.ts";

type Given = Pick<ReadSettings<Record<never, never>>, "settings" | "given" | "overrides">;

/** Throws UsageError for an invalid URL. */
export function registryOf({
  settings: { registryUrl },
  given,
}: Pick<Given, "settings" | "given">): string | undefined {
  if (registryUrl !== undefined) checkAddress(registryUrl, given.get("registryUrl") ?? "--registry-url");
  return registryUrl;
}

export function provisionOf({ settings, given, overrides }: Given): ProvisionOptions {
  const registryUrl = registryOf({ settings, given });
  const { env } = process;
  const consent = folderConsent(settings.config, process.cwd(), homeFolder(env));
  return { registryUrl, env, overrides, consent, layers: configLayers(settings).check };
}

/** The error does not contain the address, because it may contain a password. */
function checkAddress(url: string, source: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(
      `${source} is not a web address. Write it in full, as "https://registry.example.com".`,
    );
  }
  if (parsed.username || parsed.password) {
    throw new UsageError(`${source} contains a user name or password, which would be shown. Remove it.`);
  }
}
