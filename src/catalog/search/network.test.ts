import { expect, test } from "vitest";
import { readShipped } from "../../home/shipped.ts";
import { EVIDENCE_KINDS } from "./evidence.ts";
import { loadNetwork, Network, type StoredNetwork } from "./network.ts";
import { createSearch } from "./search.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { tool } from "./tool.fixture.ts";

test("the score is the weighted sum of the standardized inputs, plus what each hidden unit adds", () => {
  const network = new Network({
    means: [1, 2],
    deviations: [0.5, 4],
    direct: [3, -1],
    hidden: [
      { weights: [1, 2], bias: 0.5, out: 10 },
      { weights: [0, -1], bias: 0, out: -2 },
    ],
  });
  // Standardized: 2 and 1.
  const expected = 3 * 2 - 1 + 10 * Math.tanh(2 + 2 + 0.5) - 2 * Math.tanh(-1);
  expect(network.score(Float64Array.of(2, 6))).toBeCloseTo(expected);
  expect(network.score(Float64Array.of(1, 2))).toBeCloseTo(10 * Math.tanh(0.5));
});

test("a score does not depend on the scores before it, and does not change the inputs", async () => {
  const network = (await loadNetwork()) as Network;
  const inputs = Float64Array.from({ length: 18 }, (_, i) => i / 18);
  const score = network.score(inputs);
  network.score(new Float64Array(18).fill(1));
  expect(network.score(inputs)).toBe(score);
  expect(inputs[9]).toBe(0.5);
});

/** The inputs that the ranking passes, one array per call. */
async function recorded(question: string): Promise<Float64Array[]> {
  const calls: Float64Array[] = [];
  const scorer = { score: (inputs: Float64Array) => calls.push(inputs.slice()) };
  const search = createSearch(DEFAULT_SETTINGS, { loadScorer: async () => scorer });
  search.update(
    "notes",
    ["create_note", "list_notes", "help"].map((name) => tool("notes", name, "Works with notes.")),
  );
  await search.search(question, { limit: 10 });
  return calls;
}

test("the network that ships has a weight for each input", async () => {
  const stored = (await readShipped("ranking/network.json"))?.toString("utf8") ?? "";
  const { means, deviations, direct, hidden } = JSON.parse(stored) as StoredNetwork;
  const [inputs] = await recorded("write a note");
  const lists = [means, deviations, direct, ...hidden.map(({ weights }) => weights)];
  for (const list of lists) expect(list).toHaveLength(inputs?.length ?? 0);
  for (const deviation of deviations) expect(deviation).toBeGreaterThan(0);
});

test.each([
  ["of two steps", "write a note and then list all notes"],
  ["that is a name", "help"],
  ["with many words", "notes ".repeat(100)],
  ["in another script", "笔记 notes 1 2 3"],
])("all evidence for a question %s is in 0..1, and the network's scores are finite", async (_, question) => {
  const network = (await loadNetwork()) as Network;
  const calls = await recorded(question);
  expect(calls.length).toBeGreaterThan(1);
  for (const inputs of calls) {
    for (const value of inputs.subarray(0, EVIDENCE_KINDS.length)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
    expect(Number.isFinite(network.score(inputs))).toBe(true);
  }
});
