import { expect, test } from "vitest";
import { type EngineProbe, engineFor, systemProbe } from "./container-engine.ts";

const SERVER = { image: "node:22-slim", read: [], write: [], network: "all" } as const;

interface Machine {
  readonly installed?: readonly string[];
  readonly platform?: NodeJS.Platform;
  /** What a command of an engine prints; a text that begins with "!" is a complaint. */
  readonly prints?: Readonly<Record<string, string>>;
}

function machine({ installed = ["docker"], platform = "linux", prints = {} }: Machine): EngineProbe {
  const said: Readonly<Record<string, string>> = {
    "docker context": "unix:///var/run/docker.sock\n",
    "podman info": "false\n",
    ...prints,
  };
  return {
    platform,
    path: (name) => (installed.includes(name) ? `/usr/bin/${name}` : undefined),
    run(path, args) {
      const name = path.slice("/usr/bin/".length);
      const text = said[`${name} ${args.slice(0, 2).join(" ")}`] ?? said[`${name} ${args[0]}`] ?? "";
      if (text.startsWith("!"))
        throw Object.assign(new Error("failed"), { stderr: `note\n${text.slice(1)}\n` });
      return text;
    },
  };
}

test("an engine that answers and has the image is used, docker before podman", () => {
  expect(engineFor(SERVER, machine({ installed: ["docker", "podman"] }))).toEqual({
    name: "docker",
    path: "/usr/bin/docker",
  });
  const withoutImage = machine({
    installed: ["docker", "podman"],
    prints: { "docker image inspect": "!no" },
  });
  expect(engineFor(SERVER, withoutImage)).toMatchObject({ name: "podman" });
});

test.each<readonly [string, Machine, RegExp]>([
  ["no engine", { installed: [] }, /neither docker nor podman is installed: install one/],
  [
    "one that does not answer",
    { prints: { "docker image ls": "!Cannot connect to the Docker daemon." } },
    /docker does not answer \(Cannot connect to the Docker daemon\.\): start it .*then restart MetaMCP/,
  ],
  [
    "one without the image",
    { prints: { "docker image inspect": "!No such image" } },
    /does not have this image: run "docker pull node:22-slim"/,
  ],
  ["one on another machine", { prints: { "docker context": "tcp://10.0.0.5:2375" } }, /on another machine/],
  [
    "podman on another machine",
    { installed: ["podman"], prints: { "podman info": "true" } },
    /on another machine/,
  ],
  [
    "two, of which one answers",
    {
      installed: ["docker", "podman"],
      prints: { "docker image ls": "!no daemon", "podman image inspect": "!no such image" },
    },
    /podman does not have this image: run "podman pull node:22-slim"/,
  ],
])("without a usable engine, with %s, the reason says what mends it", (_what, here, reason) => {
  expect(engineFor(SERVER, machine(here))).toMatch(reason);
});

test("a limit that the engine would ignore is a reason, and one that it holds is not", () => {
  const limited = { ...SERVER, memoryMb: 100, processes: 10 };
  expect(engineFor(limited, machine({ prints: { "docker info": "memory pids" } }))).toMatchObject({
    name: "docker",
  });
  expect(engineFor(limited, machine({ prints: { "docker info": "memory " } }))).toMatch(
    /cannot limit processes/,
  );
  expect(engineFor(limited, machine({ prints: { "docker info": "!" } }))).toMatch(/cannot limit memory/);
});

test("a list of hosts needs a socket in the container, so Linux", () => {
  expect(engineFor({ ...SERVER, network: ["a.test"] }, machine({ platform: "darwin" }))).toMatch(
    /only on Linux/,
  );
  expect(engineFor(SERVER, machine({ platform: "darwin" }))).toMatchObject({ name: "docker" });
});

test("an engine that hangs is asked once", () => {
  expect(() => systemProbe.run("/bin/sh", ["-c", "exec sleep 100"])).toThrow(/ETIMEDOUT/);
  expect(() => systemProbe.run("/bin/sh", ["-c", "true"])).toThrow(/no answer within 2 s/);
});
