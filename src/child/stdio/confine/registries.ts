/** The hosts from which package runners install, reachable only while a server is being installed. */
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

export function registryHosts(env: Environment): NetworkHosts {
  const named = Object.entries(env).flatMap(([name, value]) => {
    const url = NAMING.test(name) && URL.canParse(value) ? new URL(value) : undefined;
    if (!url) return [];
    return [`${url.hostname}:${url.port || (url.protocol === "http:" ? 80 : 443)}`];
  });
  return new NetworkHosts([...PUBLIC, ...named]);
}
