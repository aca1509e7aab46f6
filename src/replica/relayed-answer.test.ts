import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { ANONYMOUS } from "../kernel/principal.ts";
import { RelayedAnswer } from "./relayed-answer.ts";

test("what arrives while the client does not read asks once for a pause, and goes on once", () => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const received = { request, response, principal: ANONYMOUS };
  let drained = 0;
  const answer = new RelayedAnswer(
    { received, id: "", body: undefined, harmless: false, lost: () => undefined },
    [],
    {
      onPassed: () => {},
      onBegun: () => {},
      onDrain: () => {
        drained += 1;
      },
    },
  );
  answer.answer(Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"));
  const part = Buffer.alloc(64 * 1024, "x");
  expect([answer.data(part), answer.data(part), answer.data(part)]).toEqual([false, true, true]);
  expect(response.listenerCount("drain")).toBe(1);
  response.emit("drain");
  expect([drained, answer.data(part)]).toEqual([1, false]);
});
