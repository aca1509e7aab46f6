import { chmodSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { gone, kill } from "../../../test/support/processes.ts";
import { stdioHarness } from "../../../test/support/stdio.ts";
import { temp } from "../../../test/support/temp.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { toRaw } from "../../kernel/raw.ts";
import { secretsFrom } from "../../kernel/secret.ts";
import { writeId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { ChildFailure } from "../link.ts";
import { hasTable, readProcess } from "./processes.ts";

const failure = async (attempt: Promise<unknown>): Promise<ChildFailure> => {
  const error = await attempt.then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ChildFailure);
  return error as ChildFailure;
};

test("a link exchanges messages with a child and ends it by closing stdin, without a signal", async () => {
  const { ready, ask, closings, pids, connector } = stdioHarness([]);
  const link = await ready();
  expect(await ask(link, "echo", { a: 1 })).toEqual({ method: "echo", params: { a: 1 } });
  const [pid] = pids();
  expect(link.peer).toBe(`pid ${pid}`);
  if (hasTable) expect(readProcess(Number(pid))?.group).toBe(pid);

  await Promise.all([link.close(), link.close()]);
  expect(pids()).toEqual([]);
  expect(closings).toEqual([]);
  await connector.settled();
});

test("a failed start says whether command, folder or interpreter is missing, and what to do", async () => {
  const { folder, path, write } = temp();
  const absent = await failure(stdioHarness([], { command: "no-such-program" }).open());
  expect(absent).toMatchObject({ category: "offline", unsent: true, needsFix: true });
  expect(absent.message).toMatch(/"no-such-program" was not found/);

  const oneString = await failure(stdioHarness([], { command: "npx -y server" }).open());
  expect(oneString.message).toMatch(/"args"/);

  const noFolder = await failure(stdioHarness([], { cwd: path("nowhere") }).open());
  expect(noFolder).toMatchObject({ category: "offline", needsFix: true });
  expect(noFolder.message).toMatch(/nowhere does not exist/);

  const file = write("script", "#!/no/such/interpreter\n");
  const notRunnable = await failure(stdioHarness([], { command: file, cwd: folder }).open());
  expect(notRunnable).toMatchObject({ category: "offline", needsFix: true });
  expect(notRunnable.message).toMatch(/chmod \+x/);

  chmodSync(file, 0o755);
  for (const command of [file, "./script", "script"]) {
    const spec = { command, cwd: path("."), env: secretsFrom({ PATH: `/nothing:${path(".")}` }) };
    expect((await failure(stdioHarness([], spec).open())).message).toMatch(
      /script exists, but the interpreter/,
    );
  }
  const notFolder = await failure(stdioHarness([], { cwd: file }).open());
  expect(notFolder.message).toMatch(/is not a folder/);

  const other = await failure(stdioHarness([], { command: "a\0b" }).open());
  expect(other.category).toBe("other");
});

test("a cancelled open() starts no process", async () => {
  const { open, pids } = stdioHarness([]);
  await failure(open(AbortSignal.abort()));
  expect(pids()).toEqual([]);
});

test("an exit is reported once, with its code and the last output", async () => {
  const { open, closings, connector, logged } = stdioHarness(["say=first", "say=no API key", "exit=3"]);
  const link = await open();
  await until(() => closings.length > 0);
  expect(closings[0]).toMatchObject({
    category: "stdio-exit",
    message: expect.stringMatching(/code 3.*no API key/s),
  });
  expect(link.lastWords()).toBe("no API key");
  link.send({ kind: "notification", method: "into the void", params: undefined });
  await link.close();
  await connector.settled();
  expect(closings).toHaveLength(1);
  expect(logged).toContain("debug no API key");
});

test("a killed child is reported with the signal, and the rest of its group is ended", async () => {
  const { ready, closings, pids } = stdioHarness(["grandchild=deaf"]);
  const link = await ready();
  const before = pids();
  expect(before).toHaveLength(2);
  kill(Number(link.peer.slice(4)));
  await until(() => closings.length > 0);
  expect(closings[0]?.message).toMatch(/SIGKILL/);
  await gone(before);
  await link.close();
  expect(closings).toHaveLength(1);
});

test("an exit after close() is not reported", async () => {
  const clock = new ManualClock();
  // `sleep` holds the pipes open, so that the exit is reported only after a delay.
  const script = 'sleep 1000 & echo \'{"jsonrpc":"2.0","method":"x"}\'; kill -9 $$';
  const { open, closings, pids, messages } = stdioHarness([], { command: "sh", args: ["-c", script], clock });
  const link = await open();
  await until(() => messages.length > 0 && clock.pending > 0);
  expect(closings).toEqual([]);
  let ended = false;
  void link.close().then(() => {
    ended = true;
  });
  await until(() => {
    clock.advance(5);
    return ended;
  });
  expect(closings).toEqual([]);
  expect(pids()).toEqual([]);
});

test("a child that closes its stdout is reported as lost and ended", async () => {
  const { ready, closings, pids, connector } = stdioHarness(["mute"]);
  const link = await ready();
  const before = pids();
  await until(() => closings.length > 0);
  expect(closings[0]).toMatchObject({
    category: "stdio-exit",
    message: expect.stringMatching(/closed its input or output/),
  });
  await gone(before);
  await connector.settled();
  expect(closings).toHaveLength(1);
  await link.close();
});

test("a child that closes its stdin is reported as lost and ended once a message is sent to it", async () => {
  const { ready, closings, pids, connector } = stdioHarness(["unhearing"]);
  const link = await ready();
  const before = pids();
  await until(() => {
    link.send({ kind: "notification", method: "anybody there", params: undefined });
    return closings.length > 0;
  });
  expect(closings[0]?.category).toBe("stdio-exit");
  await gone(before);
  await connector.settled();
});

test("lines on stdout that are no messages are logged and skipped", async () => {
  const { ready, ask, logged } = stdioHarness(["garbage"]);
  const link = await ready();
  expect(await ask(link, "echo", 1)).toEqual({ method: "echo", params: 1 });
  expect(logged.filter((line) => line.includes("not a message"))).toHaveLength(3);
  expect(logged).toContain("warn a line on stdout is not a message: Listening…");
  await link.close();
});

test("an answer over the size limit fails only its own request", async () => {
  const { ready, ask, closings } = stdioHarness([], { maxMessageBytes: 10_000 });
  const link = await ready();
  expect(await ask(link, "big", { bytes: 10_001 })).toMatchObject({
    code: -32603,
    message: expect.stringMatching(/100\d\d bytes.* 10000 /),
    data: { metamcp: "result_too_large" },
  });
  expect(await ask(link, "echo", 1)).toEqual({ method: "echo", params: 1 });
  expect(closings).toEqual([]);
  await link.close();
});

test.each(["stderr", "stdout"])("requests are answered while a child floods %s", async (stream) => {
  const { ready, ask, logged } = stdioHarness([`flood=${stream}`]);
  const link = await ready();
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 5; i++) expect(await ask(link, "echo", i)).toEqual({ method: "echo", params: i });
  await until(() => logged.some((line) => line.includes("more lines")));
  expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20);
  expect(logged.length).toBeLessThan(1_000);
  await link.close();
});

test("a child gets its own env and the safe variables, but no other variable of ours", async () => {
  process.env["METAMCP_TEST_SECRET"] = "s";
  onTestFinished(() => void delete process.env["METAMCP_TEST_SECRET"]);
  const { ready, ask } = stdioHarness([], { env: secretsFrom({ OWN: "1", METAMCP_CHILD: "forged" }) });
  const link = await ready();
  const seen = await ask(link, "env", {});
  expect(seen).toMatchObject({
    OWN: "1",
    PATH: process.env["PATH"],
    METAMCP_CHILD: expect.stringMatching(/^\d/),
  });
  expect(seen).not.toHaveProperty("METAMCP_TEST_SECRET");
  await link.close();
});

test("requests that no longer fit into the pipe of a child that dies are reported as not sent, the others are not", async () => {
  const { ready, pids, closings, failed } = stdioHarness([]);
  const link = await ready();
  const send = (id: number, bytes: number): void =>
    link.send({
      kind: "request",
      id: writeId(id),
      method: "echo",
      params: toRaw({ text: "x".repeat(bytes) }),
    });
  const [pid] = pids() as [number];
  process.kill(pid, "SIGSTOP");
  send(101, 1);
  // The first request is in the pipe when the others are sent.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  send(102, 1_000_000);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  send(103, 1);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  kill(pid);
  await until(() => closings.length > 0);
  expect(failed.map(({ id, failure: { unsent } }) => [id, unsent])).toEqual([
    [102, true],
    [103, true],
  ]);
  expect(closings[0]?.unsent).toBe(false);
});

test("a request that is written together with a long one may have been read, although the write is not complete", async () => {
  const { ready, pids, closings, failed } = stdioHarness([]);
  const link = await ready();
  const [pid] = pids() as [number];
  process.kill(pid, "SIGSTOP");
  for (const [id, bytes] of [
    [101, 1],
    [102, 1_000_000],
  ] as const)
    link.send({
      kind: "request",
      id: writeId(id),
      method: "echo",
      params: toRaw({ text: "x".repeat(bytes) }),
    });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  kill(pid);
  await until(() => closings.length > 0);
  expect(failed.map(({ id, failure: { unsent } }) => [id, unsent])).toEqual([[102, true]]);
});

test("a child that asks and does not read is no longer read, and what waits for it stays small", async () => {
  const { ready, messages } = stdioHarness(["asks"]);
  const link = await ready();
  const result = toRaw({ text: "x".repeat(1_000) });
  let answered = 0;
  const answerAll = (): void => {
    for (; answered < messages.length; answered++) {
      const message = messages[answered] as Message;
      if (message.kind === "request") link.send({ kind: "result", id: message.id, result });
    }
  };
  // It is paused once nothing more comes in several turns.
  for (let quiet = 0; quiet < 20; ) {
    const before = messages.length;
    answerAll();
    await new Promise((resolve) => setTimeout(resolve, 5));
    quiet = messages.length === before && before > 1_000 ? quiet + 1 : 0;
  }
  expect(answered * result.length).toBeLessThan(48 * 1024 * 1024);
  await link.close();
});
