/**
 * `metamcp gateway audit --follow`: continues after a restart of the gateway, and removes control characters.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { ADMIN_TOKEN, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { ROOT, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("audit --follow prints each record as one line, also after a restart of the gateway", async () => {
  const folder = temp();
  const flags = ["--port", String(await freePort())];
  const { gateway, key } = await layeredTeam({ folder, flags });
  const following = spawn(
    process.execPath,
    [join(ROOT, "dist/metamcp.js"), "gateway", "audit", "--follow", "--kind", "call"],
    {
      env: { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN, METAMCP_GATEWAY: gateway.url },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void following.kill("SIGKILL"));
  let [output, errors] = ["", ""];
  following.stdout.on("data", (chunk: Buffer) => (output += chunk));
  following.stderr.on("data", (chunk: Buffer) => (errors += chunk));
  const lines = () => output.split("\n").slice(0, -1);

  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("odd\n\u001B[2J\u0007 name").catch(() => {});
  await until(() => lines().length >= 1, { what: "the first record" });
  await client.close();
  await gateway.stop();
  await until(() => errors.includes("Waiting for it"), { what: "the gateway to be missed" });
  const again = await teamGateway(folder, { flags });
  await (await teamClient(again, "aggregate", { key })).call("fix__echo", { message: "x" });
  await until(() => lines().length >= 2, { what: "the second record" });

  expect(lines()).toEqual([expect.stringContaining("odd [2J name"), expect.stringMatching(/fix:echo {2}ok/)]);
  expect(errors.match(/Waiting for it/g)).toHaveLength(1);
});
