// Starts `metamcp serve` for the bench: the process, its config and its admin API.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSession } from "../overhead/http/load.mjs";
import { fresh, Running } from "../overhead/http/running.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const node = process.execPath;
export const CHILD = join(root, "test/fixture/child.mjs");
export const DIST = join(root, "dist");
const PROBE = join(root, "test/support/memory-probe.mjs");
const ADMIN_TOKEN = "an-admin-token-for-the-bench-0123456789";
export const ENV = {
  METAMCP_ADMIN_TOKEN: ADMIN_TOKEN,
  METAMCP_SECRET_KEY: "a-secret-for-the-bench-0123456789-abcdef",
};

/** `listening` resolves with the URL when the gateway prints it. `probe` loads the memory probe. */
export function spawnGateway(name, { dist = DIST, store, flags = [], env = {}, probe = false } = {}) {
  const serveFlags = [...flags, ...(store === undefined ? [] : ["--store", store])];
  const args = [
    ...(probe ? ["--import", PROBE] : []),
    join(dist, "metamcp.js"),
    "serve",
    "--port",
    "0",
    ...serveFlags,
  ];
  const server = new Running(name, node, args, { ...ENV, METAMCP_HOME: fresh("home"), ...env });
  return { server, listening: server.untilOutput(/^http:\/\/\S+$/m) };
}

/** Starts a gateway and applies the document without a source, so that the API can change its objects. */
export async function startGateway(name, { document, ...options } = {}) {
  const { server, listening } = spawnGateway(name, options);
  const base = await listening;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
  const api = async (method, path, body) => {
    const response = await fetch(`${base}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text.slice(0, 300)}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  if (document) await api("POST", "/config/apply", { document: { version: 1, ...document } });
  const key = async (more = {}) => {
    const created = await api("POST", "/api-keys", { name: fresh("key"), endpoints: "all", ...more });
    return { "x-api-key": created.key };
  };
  const urlOf = (endpoint) => `${base}/metamcp/${endpoint}/mcp`;
  const openAt = async (endpoint, credentials) =>
    await openSession(urlOf(endpoint), credentials ?? (await key()));
  return Object.assign(server, { base, adminHeaders: headers, api, key, urlOf, openAt });
}

/** Entries of a document for fixture servers, which are real processes. */
export function fixtures(count, ...flags) {
  const entry = { command: node, args: [CHILD, ...flags] };
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, entry]));
}

/** A namespace with all of these servers. */
export function allOf(servers) {
  return { servers: Object.fromEntries(Object.keys(servers).map((name) => [name, {}])) };
}
