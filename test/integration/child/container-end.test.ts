/** The end of a container at engines that are slow, busy or hang. confined-container.test.ts has real ones. */
import { chmodSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { endContainer } from "../../../src/child/stdio/confine/containers.ts";
import type { Engine } from "../../../src/config/container-engine.ts";
import { temp } from "../../support/temp.ts";

/** An engine that writes down what it is asked, and then does this. */
function engine(script: string): Engine & { readonly asked: () => readonly string[] } {
  const folder = temp();
  const log = folder.write("asked", "");
  const path = folder.write("engine", `#!/bin/sh\necho "$*" >>'${log}'\n${script}`);
  chmodSync(path, 0o755);
  return { name: "docker", path, asked: () => readFileSync(log, "utf8").trim().split("\n") };
}

test("a container that the engine removes is not asked for again", async () => {
  const removing = engine("");
  await endContainer(removing, "one");
  expect(removing.asked()).toEqual(["rm -f one"]);
});

test("an engine that is removing it already is asked until it is gone", async () => {
  const busy = engine(`[ "$1" = ps ] || exit 1; [ "$(wc -l <"\${0%engine}asked")" -gt 3 ] || echo 0a1b`);
  await endContainer(busy, "one");
  const look = "ps -a -q --filter=name=one";
  expect(busy.asked()).toEqual(["rm -f one", look, look, look]);
});

test("an engine that hangs, or never removes it, does not hold the stop", async () => {
  await endContainer(engine("exec sleep 600"), "one", 200);
  await endContainer(engine('[ "$1" = rm ] && exit 1; exec sleep 600'), "one", 200);
  await endContainer(engine('[ "$1" = rm ] && exit 1; echo 0a1b'), "one", 200);
});
