/**
 * Asks the registry that npm is set up with whether it has the MetaMCP that runs now. A short time limit; no
 * answer means no.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { METAMCP_NAME } from "../clients/metamcp-entry.ts";

const TIMEOUT_MS = 10_000;

/** `script` is the path of the running one: `…/node_modules/metamcp/dist/metamcp.js`. */
export async function isPublished(version: string, script: string): Promise<boolean> {
  const [published, running] = await Promise.all([publishedHash(version), installedHash(script)]);
  // Another package may have the same name and version there. Only npm records what it installed.
  return published !== undefined && (running === undefined || running === published);
}

async function publishedHash(version: string): Promise<string | undefined> {
  const args = ["view", `${METAMCP_NAME}@${version}`, "dist.integrity", "--fetch-retries=0"];
  const answer = promisify(execFile)("npm", args, { timeout: TIMEOUT_MS });
  return await answer.then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );
}

async function installedHash(script: string): Promise<string | undefined> {
  const record = join(dirname(script), "../../.package-lock.json");
  try {
    const { packages } = JSON.parse(await readFile(record, "utf8")) as {
      packages?: Record<string, { integrity?: string }>;
    };
    return packages?.[`node_modules/${METAMCP_NAME}`]?.integrity;
  } catch {
    return undefined;
  }
}
