import { readdirSync, readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { tokensOf } from "../kernel/tokens.ts";
import { listBytes, modelBytes } from "./model-bytes.ts";

const FOLDER = new URL("../../test/golden-retrieval/tools/", import.meta.url);
const lists = readdirSync(FOLDER).map(
  (file) =>
    JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as {
      server: string;
      tools: readonly { name: string; description?: string; inputSchema: unknown }[];
    },
);

test("counts name, description and input schema, and nothing else of a tool", () => {
  const sent = { name: "a", description: 'says "é"', inputSchema: { type: "object" } };
  const more = { title: "A", ...sent, outputSchema: { type: "object" }, annotations: { title: "A" } };
  const size = modelBytes(toRaw(more));
  expect(size).toBe(Buffer.byteLength(JSON.stringify(sent)) + 1);
  expect(listBytes(toRaw({ tools: [more, more], nextCursor: "x" }))).toBe(2 * size);
  expect(listBytes(toRaw({}))).toBe(0);
});

test("the estimate is within 5 % of a tokenizer's count in the sum, and within 10 % for each server", () => {
  let counted = 0;
  let estimated = 0;
  for (const { server, tools } of lists) {
    const sent = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    const real = sent.reduce((sum, tool) => sum + countTokens(JSON.stringify(tool)), 0);
    const guess = tokensOf(listBytes(toRaw({ tools })));
    expect(Math.abs(guess / real - 1), `${server}: ${guess} of ${real}`).toBeLessThan(0.1);
    counted += real;
    estimated += guess;
  }
  expect(Math.abs(estimated / counted - 1)).toBeLessThan(0.05);
});
