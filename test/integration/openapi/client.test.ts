/**
 * A client generated from the OpenAPI description of an endpoint: its types find mistakes, and it calls a
 * tool.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../../support/temp.ts";

test("a program with generated types calls tools over the HTTP API", async () => {
  const script = join(ROOT, "demo/openapi/run.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toMatch(/^[\d.]+ degrees, .+\nsum: 200\nwrong: 400 validation_input\n$/);
}, 120_000);
