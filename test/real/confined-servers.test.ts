/**
 * The servers of docs/sandboxing.md, installed by npx inside of their sandbox, with the settings there: each
 * starts and
 * lists its tools. Needs the npm registry and bubblewrap, so it runs only with METAMCP_REAL, and keeps there
 * what was installed.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { metamcp } from "../support/command.ts";
import { WHY_NOT } from "../support/confined.ts";
import { confinedServers } from "../support/confined-servers.ts";
import { networkEnv } from "../support/install.ts";
import { ROOT, temp } from "../support/temp.ts";

interface Package {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const FOLDER = process.env["METAMCP_REAL"];
const packages = JSON.parse(
  readFileSync(join(ROOT, "test/golden-retrieval/servers.json"), "utf8"),
) as readonly Package[];

describe.skipIf(FOLDER === undefined || WHY_NOT !== undefined)(
  "confined (left out without METAMCP_REAL=FOLDER and bubblewrap)",
  { timeout: 300_000 },
  () => {
    test.each(confinedServers())("$name", async ({ name, package: identifier, sandbox }) => {
      const { version, args = [], env = {} } = packages.find((one) => one.name === name) as Package;
      const folder = temp();
      const place = join(FOLDER as string, "confined", name);
      const work = join(FOLDER as string, "work", name);
      mkdirSync(work, { recursive: true });
      const needs = args.includes(".") ? { ...(sandbox as object), write: [work] } : sandbox;
      folder.writeConfig({
        [name]: {
          command: "npx",
          args: ["-y", `${identifier}@${version}`, ...args.map((one) => (one === "." ? work : one))],
          env: { ...env, ...networkEnv() },
          sandbox: needs,
          timeoutMs: 240_000,
        },
      });
      const home = { ...folder, env: { ...folder.env, METAMCP_HOME: place } };
      const { code, out, err } = await metamcp(home, ["doctor", name]);
      expect({ code, out }, err).toEqual({
        code: 0,
        out: expect.stringMatching(/[✓!] .*\d tools? [\s\S]*confined: /),
      });
    });
  },
);
