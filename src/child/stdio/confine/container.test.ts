import { expect, test } from "vitest";
import {
  type ContainerParts,
  containerArgs,
  containerEnvironment,
  isOfEngine,
  mountable,
} from "./container.ts";
import { containerAdvice } from "./container-advice.ts";

const PARTS: ContainerParts = {
  engine: "docker",
  name: "metamcp-1-a",
  owner: "here",
  sandbox: { image: "node:22-slim", read: [], write: [], network: "all" },
  user: { uid: 1000, gid: 1000 },
  env: {},
  words: ["node", "server.js"],
  listed: [],
  hidden: { folders: [], files: [] },
  own: [],
  cwd: "/home/one",
};

test("all that confines is set, and only the network of the entry", () => {
  expect(containerArgs(PARTS)).toEqual([
    "run",
    "--rm",
    "-i",
    "--init",
    "--name=metamcp-1-a",
    "--label=metamcp.server=here",
    "--pull=never",
    "--read-only",
    "--tmpfs=/tmp:rw,nosuid,nodev,mode=1777",
    "--tmpfs=/var/tmp:rw,nosuid,nodev,mode=1777",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--ipc=private",
    "--log-driver=none",
    "--user=1000:1000",
    "--workdir=/home/one",
    "--entrypoint=node",
    "node:22-slim",
    "server.js",
  ]);
  for (const network of ["none", ["a.test"]] as const)
    expect(containerArgs({ ...PARTS, sandbox: { ...PARTS.sandbox, network } })).toContain("--network=none");
});

test("limits hold for all processes together, and podman keeps the user", () => {
  const sandbox = { ...PARTS.sandbox, memoryMb: 100, processes: 20 };
  expect(containerArgs({ ...PARTS, engine: "podman", sandbox })).toEqual(
    expect.arrayContaining(["--memory=100m", "--memory-swap=100m", "--pids-limit=20", "--userns=keep-id"]),
  );
});

test("places are mounted as they are listed, and secrets in them are covered", () => {
  const args = containerArgs({
    ...PARTS,
    listed: [
      { from: "/a", to: "/a" },
      { from: "/b", to: "/b", writable: true },
    ],
    hidden: { folders: ["/a/.ssh"], files: ["/a/.netrc"] },
  });
  expect(args.filter((one) => one.startsWith("--mount"))).toEqual([
    "--mount=type=bind,source=/a,target=/a,readonly,bind-nonrecursive=true",
    "--mount=type=bind,source=/b,target=/b",
    "--mount=type=tmpfs,target=/a/.ssh,tmpfs-mode=0500",
    "--mount=type=bind,source=/dev/null,target=/a/.netrc,readonly,bind-nonrecursive=true",
  ]);
  expect(["/a b", "/a,readonly=false", '/a"', "/a\nb"].map(mountable)).toEqual([true, false, false, false]);
});

test("values stay out of the arguments, unless the engine itself would obey the variable", () => {
  const env = {
    API_KEY: "secret",
    PATH: "/x",
    DOCKER_HOST: "tcp://evil",
    ld_preload: "/x.so",
    Https_Proxy: "p",
  };
  const passed = containerArgs({ ...PARTS, env }).filter((one) => one.startsWith("--env"));
  expect(passed).toEqual([
    "--env=API_KEY",
    "--env=PATH=/x",
    "--env=DOCKER_HOST=tcp://evil",
    "--env=ld_preload=/x.so",
    "--env=Https_Proxy=p",
  ]);
  for (const name of [
    "DOCKER_CONFIG",
    "CONTAINERS_CONF",
    "XDG_CONFIG_HOME",
    "GODEBUG",
    "LD_AUDIT",
    "_X",
    "HOME",
  ])
    expect(isOfEngine(name), name).toBe(true);
});

test("programs and files that variables of this machine name are not those of the container", () => {
  const env = {
    PATH: "/usr/bin",
    HOME: "/h",
    LC_ALL: "C",
    SSL_CERT_FILE: "/c",
    TOKEN: "t",
    https_proxy: "p",
  };
  expect(containerEnvironment(env, (name) => name === "TOKEN")).toEqual({
    HOME: "/h",
    LC_ALL: "C",
    TOKEN: "t",
    https_proxy: "p",
  });
});

test("what the engine and the first process in a container print leads to what mends it", () => {
  const advice = (output: string, program = "node", engine: "docker" | "podman" = "docker") =>
    containerAdvice(output, engine, { image: "slim:1", program });
  const missing = "[FATAL tini (6)] exec node failed: No such file or directory";
  expect(advice(missing)).toMatch(/image slim:1 has no program node/);
  expect(advice("ERROR (catatonit:6): failed to exec pid1: No such file or directory", "perl")).toMatch(
    /needs perl, which the image slim:1 does not have/,
  );
  const init =
    "Error: container-init binary not found on the host: stat /usr/libexec/podman/catatonit: no such file or directory";
  expect(advice(init, "node", "podman")).toMatch(/apt-get install catatonit/);
  for (const other of ["", `Error: ${missing}`, "exec failed: No such file or directory"])
    expect(advice(other)).toBeUndefined();
});
