/** A registry on a free port that holds what a test gives it, and an `npx` that starts the fixture server instead of fetching anything. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { FIXTURE, type Temp } from "./temp.ts";

export interface RegistryEntry {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly packages?: readonly object[];
  readonly remotes?: readonly object[];
}

/** As a registry lists it: an npm package of the same name. */
export function npmEntry(name: string, description: string, more: object = {}): RegistryEntry {
  const [, last = ""] = name.split("/");
  const transport = { type: "stdio" };
  const identifier = `@fixture/${last}`;
  return {
    name,
    description,
    version: "1.2.3",
    packages: [{ registryType: "npm", identifier, version: "1.2.3", transport, ...more }],
  };
}

const OFFICIAL = {
  "io.modelcontextprotocol.registry/official": {
    status: "active",
    isLatest: true,
    publishedAt: "2026-01-01T00:00:00Z",
    updatedAt: "2026-01-01T00:00:00Z",
  },
};

/** `answer` instead of entries for a registry that misbehaves. */
export async function fakeRegistry(
  content: readonly RegistryEntry[] | ((response: ServerResponse) => void),
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (typeof content === "function") return content(response);
    const servers = content.map((one) => ({ server: one, _meta: OFFICIAL }));
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ servers, metadata: { count: servers.length } }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A PATH on which `npx`, whatever package is asked for, is the fixture server with these flags, or this script. */
export function fakeNpx(folder: Temp, what: readonly string[] | string): string {
  const bin = folder.path("bin");
  mkdirSync(bin, { recursive: true });
  const file = join(bin, "npx");
  writeFileSync(file, `#!/bin/sh\n${typeof what === "string" ? what : starting(what)}\n`);
  chmodSync(file, 0o755);
  return `${bin}${delimiter}${folder.env["PATH"]}`;
}

function starting(flags: readonly string[]): string {
  const words = [process.execPath, FIXTURE, ...flags].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  return `exec ${words.join(" ")} "$@"`;
}
