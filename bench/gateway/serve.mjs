// `metamcp serve` as it is measured: one process, its config, its admin API.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSession } from "../overhead/http/load.mjs";
import { fresh, Running } from "../overhead/http/running.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const node = process.execPath;
export const CHILD = join(root, "test/fixture/child.mjs");
const DIST = join(root, "dist");
const PROBE = join(root, "test/support/memory-probe.mjs");
const ADMIN_TOKEN = "an-admin-token-for-the-bench-0123456789";
export const ENV = {
  METAMCP_ADMIN_TOKEN: ADMIN_TOKEN,
  METAMCP_SECRET_KEY: "a-secret-for-the-bench-0123456789-abcdef",
};

/** As soon as it says its address. `probe`: its memory can be asked for. */
export function spawnGateway(name, { dist = DIST, store, flags = [], env = {}, probe = false } = {}) {
  const given = [...flags, ...(store === undefined ? [] : ["--store", store])];
  const args = [
    ...(probe ? ["--import", PROBE] : []),
    join(dist, "metamcp.js"),
    "serve",
    "--port",
    "0",
    ...given,
  ];
  const server = new Running(name, node, args, { ...ENV, METAMCP_HOME: fresh("home"), ...env });
  return { server, listening: server.saying(/^http:\/\/\S+$/m) };
}

/** With this config: it is nobody's file, so it can be changed. */
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
    const made = await api("POST", "/api-keys", { name: fresh("key"), endpoints: "all", ...more });
    return { "x-api-key": made.key };
  };
  const urlOf = (endpoint) => `${base}/metamcp/${endpoint}/mcp`;
  const session = async (endpoint, opened) => await openSession(urlOf(endpoint), opened ?? (await key()));
  return Object.assign(server, { base, adminHeaders: headers, api, key, urlOf, openAt: session });
}

/** Servers as entries of a document: real processes of the fixture. */
export function fixtures(count, ...flags) {
  const entry = { command: node, args: [CHILD, ...flags] };
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, entry]));
}

/** All of these servers, as a namespace has them. */
export function allOf(servers) {
  return { servers: Object.fromEntries(Object.keys(servers).map((name) => [name, {}])) };
}
