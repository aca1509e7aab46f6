/** Setup links of gateways on one store. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiClient, PASSWORD } from "../../support/people.ts";
import { onPostgres, SECRET } from "../../support/replicas.ts";
import { atEnd } from "../../support/shared.ts";
import { ROOT, temp } from "../../support/temp.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

/** A gateway without an admin token. Returns its setup link. */
async function linkOf(store: string): Promise<URL> {
  const folder = temp();
  const args = [join(ROOT, "dist/metamcp.js"), "serve", "--port", "0", "--store", store];
  const child = spawn(process.execPath, args, {
    env: { ...folder.env, ...SECRET },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  atEnd(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk));
  return new URL(await until(() => /https?:\/\/\S+\/setup\?code=\S+/.exec(said)?.[0]));
}

onPostgres("setup", () => {
  test("the link of each gateway works after others have started, once", async () => {
    const { url } = await postgresDatabase();
    const [one, two, three] = [
      ...(await Promise.all([linkOf(url), linkOf(url)])),
      await linkOf(url),
    ] as URL[];
    const codeOf = (link: URL | undefined): string => link?.searchParams.get("code") ?? "";
    expect(new Set([one, two, three].map(codeOf)).size).toBe(1);
    const finish = (link: URL | undefined, email: string) =>
      apiClient(link?.origin ?? "")("POST", "/setup", { code: codeOf(link), email, password: PASSWORD });
    expect((await finish(one, "ada@example.org")).status).toBe(200);
    expect((await finish(two, "eve@example.org")).status).toBeGreaterThanOrEqual(400);
  });
});
