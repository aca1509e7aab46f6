import { describe, expect, test } from "vitest";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { LazyExecutor } from "./choose.ts";
import { createDockerExecutor, dockerAnswers, dockerArgs } from "./docker.ts";
import { executorContract } from "./executor.contract.ts";
import { tryRun } from "./try-run.ts";

const parts = { clock: systemClock, log: silentLog };

test("the docker command restricts network, files, privileges and memory", () => {
  const line = dockerArgs("metamcp-x").join(" ");
  for (const flag of [
    "--rm -i --init",
    "--name metamcp-x",
    "--pull never",
    "--network none",
    "--read-only",
    "--cap-drop ALL",
    "--security-opt no-new-privileges",
    "--pids-limit 64",
    "--memory 256m --memory-swap 256m",
    "--ipc none",
    "--user 65534:65534",
    "--log-driver none",
  ])
    expect(line).toContain(flag);
  expect(line).not.toMatch(/--privileged|--volume|-v |--mount|--env|-e |--publish|host\b(?!\.js)/);
});

const available = await dockerAnswers();

test.skipIf(available)(
  "without Docker a run that requires it fails and is not started in a weaker backend",
  async () => {
    const strict = new LazyExecutor({ backend: "docker" }, parts);
    expect((await tryRun(strict, "1")).error).toMatchObject({ code: "no_backends" });
    const noWasm = new LazyExecutor({ profile: "standard", wasmEnabled: false }, parts);
    expect((await tryRun(noWasm, "1")).error).toMatchObject({ code: "no_backends" });
    const standard = new LazyExecutor({ profile: "standard" }, parts);
    expect(await tryRun(standard, "1")).toMatchObject({ value: "1", backend: "wasm", unsafe: false });
    await standard.close();
  },
);

describe.skipIf(!available)("with Docker", () =>
  executorContract("docker", () => createDockerExecutor(parts)),
);
