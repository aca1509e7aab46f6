/** A client generated from the description of an endpoint: its types find what is wrong, and it calls a tool. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/temp.ts";

test("generated types check a program that calls tools over plain HTTP", async () => {
  const script = join(ROOT, "demo/openapi/run.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toMatch(/^[\d.]+ degrees, .+\nget: 200\nwrong: 400 validation_input\n$/);
}, 120_000);
