/** A gateway on stdio with a registry and an `npx` of the test's own, for tests of mcp_provision. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gateway } from "./gateway.ts";
import { textOf } from "./meta.ts";
import type { RawClient } from "./raw-client.ts";
import { fakeNpx, npmEntry } from "./registry.ts";
import type { Temp } from "./temp.ts";

export const WEATHER = npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world.");

export const CRAWLER = npmEntry(
  "io.github.fixture/crawler",
  "Crawl a website page by page and extract its links.",
  {
    environmentVariables: [
      { name: "CRAWL_KEY", description: "Key of the crawler.", isRequired: true, isSecret: true },
    ],
  },
);

interface Provisioned {
  readonly source: string;
  readonly tools?: readonly { readonly tool: string }[];
  readonly matches?: readonly Record<string, unknown>[];
  readonly installed?: string;
  readonly next?: string;
  readonly notice?: string;
  readonly message?: string;
}

interface Setting {
  readonly url: string;
  readonly capabilities?: object;
  readonly flags?: readonly string[];
  /** A script for `npx` to run instead of the fixture server. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const journalOf = (folder: Temp) => folder.journal("npx.jsonl");

export async function openGateway(folder: Temp, setting: Setting): Promise<RawClient> {
  const { url, capabilities = {}, flags = [], script, env = {} } = setting;
  const PATH = fakeNpx(folder, script ?? ["--journal", journalOf(folder).file, ...flags]);
  const client = gateway(folder, { flags: ["--registry-url", url], env: { ...env, PATH } });
  await client.initialize(capabilities);
  return client;
}

export async function provision(
  client: RawClient,
  intent: string,
  more: object = {},
  meta?: object,
): Promise<Provisioned> {
  return JSON.parse(textOf(await client.tool("mcp_provision", { intent, ...more }, meta))) as Provisioned;
}

export function trust(folder: Temp, rules: object = { allow: ["io.github.fixture/*"] }): void {
  mkdirSync(folder.home, { recursive: true });
  writeFileSync(join(folder.home, "trusted-servers.json"), JSON.stringify(rules));
}

export const configOf = (folder: Temp): { mcpServers: Record<string, unknown> } =>
  JSON.parse(readFileSync(folder.config, "utf8").replaceAll(/\/\/.*/g, "")) as never;

export const started = (folder: Temp): number =>
  existsSync(journalOf(folder).file) ? journalOf(folder).events("start").length : 0;
