import { expect, test } from "vitest";
import type { LogFields } from "../kernel/log.ts";
import { namedLog } from "./named-log.ts";

test("a line about a server has its name in the text and in the fields, and the uuid as a field", () => {
  const lines: [string, LogFields | undefined][] = [];
  const note = (message: string, fields?: LogFields) => void lines.push([message, fields]);
  const plain = { debug: note, info: note, warn: note, error: note };
  const log = namedLog(plain, (uuid) => (uuid === "0192-a" ? "github" : undefined));
  log.warn("0192-a: lost: it ended; see 0192-a", { server: "0192-a", calls: 2 });
  log.info("s: exited", { server: "s" });
  log.error("no server here");
  expect(lines).toEqual([
    ["github: lost: it ended; see github", { server: "github", uuid: "0192-a", calls: 2 }],
    ["s: exited", { server: "s" }],
    ["no server here", undefined],
  ]);
});
