/** The files in deploy/: their variables exist, and their numbers fit together. Starts nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { envOf } from "../../src/config/command-line.ts";
import { FLAGS } from "../../src/config/flags.ts";
import { SERVE_FLAGS } from "../../src/config/gateway-flags.ts";
import { parseTime } from "../../src/config/time.ts";
import { ROOT } from "../support/temp.ts";

const read = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8");

const image = Object.fromEntries(
  [...read("Dockerfile").matchAll(/^(?:ENV| {3}) +(\w+)=(\S+)/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]),
);
const { gateway } = parse(read("compose.yaml")).services;
const [deployment, service] = read("kubernetes.yaml")
  .split(/^---$/m)
  .map((text) => parse(text));
const pod = deployment.spec.template;
const [container] = pod.spec.containers;
const podEnv = Object.fromEntries(
  container.env.map(({ name, value = "" }: Record<string, string>) => [name, value]),
);
const alertPort = /targets: \["gateway:(\d+)"\]/.exec(read("prometheus-alerts.yaml"))?.[1];

test("all variables are known", () => {
  const known = [...Object.keys({ ...FLAGS, ...SERVE_FLAGS }).map(envOf), "PGPASSWORD", "NODE_ENV"];
  for (const env of [image, gateway.environment, podEnv])
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
});

test.each([
  ["compose", { ...image, ...gateway.environment }, gateway.stop_grace_period],
  ["kubernetes", { ...image, ...podEnv }, `${pod.spec.terminationGracePeriodSeconds}s`],
])(
  "%s trusts a proxy, keeps the password out of the URL, and stops later than the gateway",
  (_name, env, grace) => {
    expect(env).toMatchObject({
      METAMCP_TRUST_PROXY: expect.stringMatching(/\/\d+/),
      METAMCP_CHILD_USER: "node",
    });
    expect(new URL(env.METAMCP_STORE)).toMatchObject({ username: "metamcp", password: "" });
    // 7 s to end servers.
    const needed = (parseTime(env.METAMCP_DRAIN) ?? 0) + (parseTime(env.METAMCP_DRAIN_CALLS) ?? 0) + 7_000;
    expect(parseTime(grace)).toBeGreaterThan(needed);
  },
);

test("Prometheus finds the port of the alerts", () => {
  expect(image["METAMCP_METRICS_PORT"]).toBe(alertPort);
  expect(gateway.expose).toEqual([alertPort]);
  expect(pod.metadata.annotations["prometheus.io/port"]).toBe(alertPort);
  const ports = container.ports.map(({ containerPort }: { containerPort: number }) => String(containerPort));
  expect(ports).toEqual([image["METAMCP_PORT"], alertPort]);
  expect(service.spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort)).toEqual([
    "http",
    "metrics",
  ]);
});

test("the gateway has exactly the rights that processes of another user need, and its folders can be written", () => {
  const needed = ["SETUID", "SETGID", "KILL"];
  expect([gateway.cap_drop, gateway.cap_add, gateway.read_only]).toEqual([["ALL"], needed, true]);
  expect(container.securityContext).toMatchObject({
    runAsUser: 0,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"], add: needed },
  });
  const written = ["/data", "/home/node", "/tmp"];
  expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(written);
  const mounted = [...gateway.volumes, ...gateway.tmpfs].map((mount: string) =>
    mount.replace(/^\w+:(?=\/)|:mode.*/g, ""),
  );
  expect(mounted).toEqual(written);
  // A Service called metamcp would set METAMCP_PORT to its own address.
  expect(pod.spec.enableServiceLinks).toBe(false);
});
