/** Where new servers come from, as the settings have it. */
import { UsageError } from "../config/command-line.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { ProvisionOptions } from "../provisioning.ts";

type Given = Pick<ReadSettings<Record<never, never>>, "settings" | "given" | "overrides">;

export function provisionOf({ settings, given, overrides }: Given): ProvisionOptions {
  const { registryUrl } = settings;
  if (registryUrl !== undefined) checkAddress(registryUrl, given.get("registryUrl") ?? "--registry-url");
  return { registryUrl, env: process.env, overrides };
}

/** The address is not repeated: it may hold a password. */
function checkAddress(url: string, source: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`${source} is no web address: write it whole, as "https://registry.example.com".`);
  }
  if (parsed.username || parsed.password) {
    throw new UsageError(`${source} holds a user name or password, which would be shown: remove it.`);
  }
}
