/** The files in deploy/: their variables exist, and their numbers fit together. Starts nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { envOf } from "../../../src/config/command-line.ts";
import { FLAGS } from "../../../src/config/flags.ts";
import { SERVE_FLAGS } from "../../../src/config/gateway-flags.ts";
import { parseTime } from "../../../src/config/time.ts";
import { ROOT } from "../../support/temp.ts";

const read = (name: string): string => readFileSync(join(ROOT, "deploy", name), "utf8");

const image = Object.fromEntries(
  [...read("Dockerfile").matchAll(/^(?:ENV| {3}) +(\w+)=(\S+)/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]),
);
const { services, volumes } = parse(read("compose.yaml"), { merge: true });
const gateways = Object.keys(services).filter((name) => name.startsWith("gateway-"));
const gateway = services[gateways[0] as string];
const objects = read("kubernetes.yaml")
  .split(/^---$/m)
  .map((text) => parse(text));
const [deployment, service] = objects;
// biome-ignore lint/suspicious/noExplicitAny: any field of any kind
const ofKind = (name: string): any => objects.find(({ kind }) => kind === name);
const pod = deployment.spec.template;
const [container] = pod.spec.containers;
const podEnv = Object.fromEntries(
  container.env.map(({ name, value = "" }: Record<string, string>) => [name, value]),
);
const alertPort = /targets: \["gateway-1:(\d+)"/.exec(read("prometheus-alerts.yaml"))?.[1];

const preStopMs = Number(container.lifecycle.preStop.exec.command[1]) * 1_000;
/** The port between replicas. */
const REPLICA_PORT = 12_009;

test("compose: three replicas with an address and folders of their own, and a proxy that knows them all", () => {
  expect(gateways).toHaveLength(3);
  for (const name of gateways) {
    const { environment, volumes: mounted, ...rest } = services[name];
    expect(environment).toEqual({
      ...gateway.environment,
      METAMCP_REPLICA_ADDRESS: `${name}:${REPLICA_PORT}`,
    });
    expect({ ...gateway, ...rest }).toEqual(gateway);
    expect(environment.METAMCP_ALLOW_HOST.split(",")).toContain(name);
    for (const mount of mounted) expect(volumes).toHaveProperty(mount.split(":")[0]);
  }
  const folders = gateways.flatMap((name) => services[name].volumes as string[]);
  expect(new Set(folders).size).toBe(6);
  const caddyfile = read("Caddyfile");
  expect(/reverse_proxy (.*) \{/.exec(caddyfile)?.[1]).toBe(
    gateways.map((name) => `${name}:${image["METAMCP_PORT"]}`).join(" "),
  );
  expect(caddyfile).toContain("health_uri /readyz");
  // The port between replicas is nobody else's business.
  expect(JSON.stringify(services.proxy)).not.toContain(String(REPLICA_PORT));
});

test("kubernetes: three replicas that only each other reach at the port between them", () => {
  expect(deployment.spec.replicas).toBe(3);
  expect(podEnv["METAMCP_REPLICA_ADDRESS"]).toBe(`$(POD_IP):${REPLICA_PORT}`);
  const names = container.env.map(({ name }: { name: string }) => name);
  // Kubernetes replaces only variables that it has read before.
  expect(names.indexOf("POD_IP")).toBeLessThan(names.indexOf("METAMCP_REPLICA_ADDRESS"));
  const label = { matchLabels: { app: "metamcp" } };
  const policy = ofKind("NetworkPolicy").spec;
  expect(policy).toMatchObject({ podSelector: label, policyTypes: ["Ingress"] });
  expect(policy.ingress).toEqual([
    { ports: [{ port: "http" }, { port: "metrics" }] },
    { from: [{ podSelector: label }], ports: [{ port: "replica" }] },
  ]);
  expect(ofKind("PodDisruptionBudget").spec).toEqual({ maxUnavailable: 1, selector: label });
  expect(ofKind("HorizontalPodAutoscaler").spec).toMatchObject({
    scaleTargetRef: { kind: "Deployment", name: deployment.metadata.name },
    minReplicas: 3,
  });
  expect(pod.metadata.labels).toEqual(label.matchLabels);
  expect(pod.spec.topologySpreadConstraints).toMatchObject([{ labelSelector: label, maxSkew: 1 }]);
});

test("all variables are known", () => {
  const known = [...Object.keys({ ...FLAGS, ...SERVE_FLAGS }).map(envOf), "PGPASSWORD", "NODE_ENV", "POD_IP"];
  for (const env of [image, gateway.environment, podEnv])
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
});

test.each([
  ["compose", { ...image, ...gateway.environment }, gateway.stop_grace_period, 0],
  ["kubernetes", { ...image, ...podEnv }, `${pod.spec.terminationGracePeriodSeconds}s`, preStopMs],
])(
  "%s trusts a proxy, keeps the password out of the URL, and stops later than the gateway",
  (_name, env, grace, preStop) => {
    expect(env).toMatchObject({
      METAMCP_TRUST_PROXY: expect.stringMatching(/\/\d+/),
      METAMCP_CHILD_USER: "node",
    });
    expect(new URL(env.METAMCP_STORE)).toMatchObject({ username: "metamcp", password: "" });
    // 1 s for calls that came last, 7 s to end servers, 10 s for the last audit records, 1 s until all know
    // that it has left.
    const needed = (parseTime(env.METAMCP_DRAIN) ?? 0) + (parseTime(env.METAMCP_DRAIN_CALLS) ?? 0) + 19_000;
    expect(parseTime(grace)).toBeGreaterThanOrEqual(needed + preStop);
  },
);

test("Prometheus finds the port of the alerts", () => {
  expect(image["METAMCP_METRICS_PORT"]).toBe(alertPort);
  expect(gateway.expose).toEqual([alertPort]);
  expect(pod.metadata.annotations["prometheus.io/port"]).toBe(alertPort);
  const ports = container.ports.map(({ containerPort }: { containerPort: number }) => String(containerPort));
  expect(ports).toEqual([image["METAMCP_PORT"], alertPort, String(REPLICA_PORT)]);
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
    mount.replace(/^[\w-]+:(?=\/)|:mode.*/g, ""),
  );
  expect(mounted).toEqual(written);
  // A Service called metamcp would set METAMCP_PORT to its own address.
  expect(pod.spec.enableServiceLinks).toBe(false);
});
