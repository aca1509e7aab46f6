import { Agent, type ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { httpChild, json, remoteSpec, result } from "../../../test/support/http-child.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { EMPTY_OBJECT, toRaw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import { RemoteLink } from "./remote-link.ts";

test("after a connection broke a link takes no new requests, and those on other connections go on", async () => {
  const held = new Map<number, ServerResponse>();
  const replica = await httpChild(({ message }, response) => void held.set(Number(message.id), response));
  const told: string[] = [];
  const link = new RemoteLink(
    remoteSpec(replica.url),
    {
      onMessage: (message) =>
        void (message.kind === "result" && message.id && told.push(`answer ${ownId(message.id)}`)),
      onFailed: (id, { unsent, message }) => void told.push(`failed ${id}, unsent: ${unsent}, ${message}`),
      onClosed: ({ message }) => void told.push(`closed: ${message}`),
      onMoved: () => void told.push("no new requests"),
    },
    {
      at: "replica",
      replica: "0123abcd",
      url: replica.url,
      headers: {},
      agent: new Agent({ keepAlive: true }),
      join: () => () => {},
    },
    { log: silentLog, clock: systemClock, maxMessageBytes: 1 << 20 },
  );
  onTestFinished(() => link.close());
  for (const id of [1, 2])
    link.send({ kind: "request", id: toRaw(id), method: "tools/call", params: EMPTY_OBJECT });
  await until(() => held.size === 2);
  held.get(1)?.destroy();
  await until(() => told.length === 2);
  json(held.get(2) as ServerResponse, result(2));
  await until(() => told.length === 3);
  expect(told).toEqual([
    "failed 1, unsent: false, the connection to replica 0123abcd, which runs it, failed",
    "no new requests",
    "answer 2",
  ]);
});
