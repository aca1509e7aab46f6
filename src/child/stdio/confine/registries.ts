/** The hosts from which package runners install, reachable only while a server is being installed. */
import { nearness, PUBLIC as PUBLIC_NETWORK } from "../../../config/nearness.ts";
import { NetworkHosts } from "../../../config/network-host.ts";
import type { Environment } from "../spawn.ts";

const PUBLIC = [
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  "pypi.org",
  "files.pythonhosted.org",
  "jsr.io",
  "npm.jsr.io",
];
/** Variables that name another registry. */
const NAMING = /^(npm_config_registry|npm_config_.*:registry|uv_(default_)?index(_url)?|pip_index_url)$/i;

/**
 * One that the entry names must be public, because it is reached without being listed. Under a floor of an
 * administrator it must be listed.
 */
export function registryHosts(env: Environment, hasFloor: boolean): NetworkHosts {
  const named = Object.entries(env).flatMap(([name, value]) => {
    const url = !hasFloor && NAMING.test(name) && URL.canParse(value) ? new URL(value) : undefined;
    if (!url || nearness(url.hostname) !== PUBLIC_NETWORK) return [];
    return [`${url.hostname}:${url.port || (url.protocol === "http:" ? 80 : 443)}`];
  });
  return new NetworkHosts([...PUBLIC, ...named]);
}
