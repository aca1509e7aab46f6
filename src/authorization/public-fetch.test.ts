import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fetchPublic, type Resolve } from "./public-fetch.ts";

/** Somebody on this machine, who must hear of nobody. */
async function neighbour() {
  let heard = 0;
  const server = createServer((socket) => {
    heard += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

/** A name server that says something else each time; the last answer stays. */
function saying(...answers: readonly (readonly string[])[]): Resolve & { readonly asked: () => number } {
  let asked = 0;
  const resolve: Resolve = (_, __, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    const found = addresses.map(
      (address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }),
    );
    setImmediate(callback, null, found);
  };
  return Object.assign(resolve, { asked: () => asked });
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
])("a name that means %j is not asked", async (addresses) => {
  const { port, heard } = await neighbour();
  const asked = fetchPublic(`https://client.test:${port}/client.json`, {}, saying(addresses));
  await expect(asked).rejects.toThrow("client.test is not a public address");
  expect(heard()).toBe(0);
});

test("the address that was looked at is the one that is connected to, whatever the name means the next moment", async () => {
  const { port, heard } = await neighbour();
  // Of a net for documentation: nobody answers there.
  const names = saying(["192.0.2.1"], ["127.0.0.1"]);
  const asked = fetchPublic(
    `https://client.test:${port}/client.json`,
    { signal: AbortSignal.timeout(300) },
    names,
  );
  await expect(asked).rejects.toThrow();
  expect(names.asked()).toBe(1);
  expect(heard()).toBe(0);
});
