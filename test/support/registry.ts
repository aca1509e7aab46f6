/**
 * A registry on a free port with the entries of a test, and a fake `npx` that starts the fixture server
 * instead of a package.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { atEnd } from "./shared.ts";
import { FIXTURE, type Temp } from "./temp.ts";

export interface RegistryEntry {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly packages?: readonly object[];
  readonly remotes?: readonly object[];
}

/** A registry entry for an npm package of the same name. */
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

/**
 * With a function as `content`, the test answers the requests itself. In entries, `http://registry.test` is
 * replaced by the URL of the registry, which also serves `files`.
 */
export async function fakeRegistry(
  content: readonly RegistryEntry[] | ((response: ServerResponse) => void),
  files: Readonly<Record<string, Buffer>> = {},
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const file = files[request.url ?? ""];
    if (file) return response.end(file);
    if (typeof content === "function") return content(response);
    const host = `http://${request.headers.host}`;
    const servers = content.map((one) => ({ server: one, _meta: OFFICIAL }));
    response.setHeader("Content-Type", "application/json");
    const list = JSON.stringify({ servers, metadata: { count: servers.length } });
    return response.end(list.replaceAll("http://registry.test", host));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/**
 * Returns a PATH with an `npx` that starts the fixture server with these flags, or runs this script, for
 * every package. Nothing else is there but what such scripts use, so no new server is confined: the fixture
 * writes its journal elsewhere.
 */
export function fakeNpx(folder: Temp, what: readonly string[] | string): string {
  const bin = folder.path("bin");
  mkdirSync(bin, { recursive: true });
  const file = join(bin, "npx");
  writeFileSync(file, `#!/bin/sh\n${typeof what === "string" ? what : fixtureCommand(what)}\n`);
  chmodSync(file, 0o755);
  if (!existsSync(join(bin, "node"))) symlinkSync(process.execPath, join(bin, "node"));
  for (const name of ["sleep", "cat"])
    if (!existsSync(join(bin, name))) symlinkSync(`/bin/${name}`, join(bin, name));
  return bin;
}

function fixtureCommand(flags: readonly string[]): string {
  const words = [process.execPath, FIXTURE, ...flags].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  return `exec ${words.join(" ")} "$@"`;
}

/** An uncompressed MCPB bundle with the fixture server: a confined server sees no files but its own. */
export function fixtureBundle(): Buffer {
  const parts = join(dirname(FIXTURE), "child");
  const manifest = {
    manifest_version: "0.3",
    name: "fixture",
    version: "1.2.3",
    server: {
      type: "node",
      entry_point: "index.mjs",
      mcp_config: { command: "node", args: ["${__dirname}/index.mjs"] },
    },
  };
  return storedZip({
    "manifest.json": JSON.stringify(manifest),
    "index.mjs": readFileSync(FIXTURE, "utf8"),
    ...Object.fromEntries(
      readdirSync(parts).map((name) => [`child/${name}`, readFileSync(join(parts, name), "utf8")]),
    ),
  });
}

function storedZip(files: Readonly<Record<string, string>>): Buffer {
  const [bodies, directory]: Buffer[][] = [[], []];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const [label, data] = [Buffer.from(name), Buffer.from(content)];
    // ZIP header fields: version, flags, method, time, date, checksum, both sizes, length of the name, length
    // of the extra field.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(checksum(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(label.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    bodies?.push(Buffer.from("PK\u0003\u0004"), common, label, data);
    directory?.push(Buffer.from("PK\u0001\u0002\u0014\u0003"), common, tail, label);
    at += 30 + label.length + data.length;
  }
  const central = Buffer.concat(directory ?? []);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...(bodies ?? []), central, end]);
}

/** CRC-32. Node 20 has no such function. */
function checksum(data: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
