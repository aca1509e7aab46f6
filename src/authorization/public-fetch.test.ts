import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fetchPublic, type Resolve } from "./public-fetch.ts";

/** A local server that must not get any connection. */
async function localServer() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** A DNS resolver that returns the next answer at each lookup, and then repeats the last one. */
function resolvingTo(
  ...answers: readonly (readonly string[])[]
): Resolve & { readonly lookups: () => number } {
  let lookups = 0;
  const resolve: Resolve = (_, __, callback) => {
    const addresses = answers[Math.min(lookups, answers.length - 1)] ?? [];
    lookups += 1;
    const found = addresses.map(
      (address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }),
    );
    setImmediate(callback, null, found);
  };
  return Object.assign(resolve, { lookups: () => lookups });
}

test.each([
  [["127.0.0.1"]],
  [["10.0.0.1"]],
  [["169.254.169.254"]],
  [["::1"]],
  [["::ffff:127.0.0.1"]],
  [["fd00::1"]],
  [["93.184.216.34", "127.0.0.1"]],
  [["2606:4700::1111", "192.168.1.1"]],
  [[]],
])("a host name that resolves to %j is refused without a connection", async (addresses) => {
  const { port, connections } = await localServer();
  const fetched = fetchPublic(`https://client.test:${port}/client.json`, {}, resolvingTo(addresses));
  await expect(fetched).rejects.toThrow("client.test is not a public address");
  expect(connections()).toBe(0);
});

test("the connection uses the address that was checked, even if the name resolves to another one later", async () => {
  const { port, connections } = await localServer();
  // An address reserved for documentation: it never answers.
  const names = resolvingTo(["192.0.2.1"], ["127.0.0.1"]);
  const fetched = fetchPublic(
    `https://client.test:${port}/client.json`,
    { signal: AbortSignal.timeout(300) },
    names,
  );
  await expect(fetched).rejects.toThrow();
  expect(names.lookups()).toBe(1);
  expect(connections()).toBe(0);
});
