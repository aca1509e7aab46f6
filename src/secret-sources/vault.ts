/**
 * `${vault:PATH#KEY}`: a secret in HashiCorp Vault, by its HTTP API. `VAULT_ADDR`, `VAULT_NAMESPACE`, and
 * `VAULT_TOKEN`, `VAULT_TOKEN_FILE` or `~/.vault-token` say where and as whom.
 */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Env } from "../home/home.ts";
import { isRecord } from "../kernel/is-record.ts";
import { readBounded } from "../kernel/read-bounded.ts";
import { SecretUnavailable } from "./unavailable.ts";

const TIMEOUT_MS = 10_000;
const LARGEST_ANSWER = 1 << 20;

export async function secretInVault(name: string, env: Env, signal?: AbortSignal): Promise<string> {
  const [path = "", key = ""] = name.split("#");
  const data = await read(addressOf(path, env), await headersOf(env), signal);
  // The second version of the key-value engine wraps the data once more.
  const values = isRecord(data["data"]) && isRecord(data["metadata"]) ? data["data"] : data;
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  const keys = Object.keys(values).slice(0, 20).join(", ");
  throw new SecretUnavailable(`Vault has no text "${key}" at ${path}${keys && `, only ${keys}`}`);
}

function addressOf(path: string, { VAULT_ADDR: base = "" }: Env): URL {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base))
    throw new SecretUnavailable("set VAULT_ADDR to the address of Vault where MetaMCP is started");
  return new URL(`${base.replace(/\/+$/, "")}/v1/${path.split("/").map(encodeURIComponent).join("/")}`);
}

async function headersOf(env: Env): Promise<Readonly<Record<string, string>>> {
  const { VAULT_TOKEN: given, VAULT_TOKEN_FILE: file, VAULT_NAMESPACE: namespace, HOME = homedir() } = env;
  const token = given ?? (await readFile(file ?? join(HOME, ".vault-token"), "utf8").catch(() => ""));
  if (token.trim() === "")
    throw new SecretUnavailable("set VAULT_TOKEN or VAULT_TOKEN_FILE where MetaMCP is started");
  return {
    "x-vault-token": token.trim(),
    "x-vault-request": "true",
    ...(namespace && { "x-vault-namespace": namespace }),
  };
}

/** Follows no redirect, because the token must not reach another address. */
async function read(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const both = signal ? AbortSignal.any([signal, limit]) : limit;
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: both });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new SecretUnavailable(refusal(response.status, url), { offline: response.status >= 500 });
    }
    const body = await readBounded(response.body, LARGEST_ANSWER);
    if (!body) throw new SecretUnavailable("the answer of Vault is larger than 1 MB");
    const answer = JSON.parse(body.toString()) as unknown;
    const data = isRecord(answer) ? answer["data"] : undefined;
    if (isRecord(data)) return data;
    throw new SecretUnavailable(`${url.origin} does not answer like Vault`);
  } catch (error) {
    if (error instanceof SecretUnavailable) throw error;
    if (error instanceof SyntaxError) throw new SecretUnavailable(`${url.origin} does not answer like Vault`);
    const why = limit.aborted ? `gave no answer within ${TIMEOUT_MS / 1_000} s` : "cannot be reached";
    throw new SecretUnavailable(`Vault at ${url.origin} ${why}`, { offline: true, cause: error });
  }
}

function refusal(status: number, { origin, pathname }: URL): string {
  const path = pathname.replace(/^.*?\/v1\//, "");
  if (status === 403) return `Vault at ${origin} refuses the token, or does not let it read ${path}`;
  if (status === 404)
    return `Vault at ${origin} has nothing at ${path}: give the path of the API, which for version 2 of the key-value engine contains "data", as in secret/data/${path}`;
  return `Vault at ${origin} answers with status ${status}`;
}
