import { expect, test } from "vitest";
import { readQuery } from "./query.ts";

const DECLARED = {
  limit: { type: "integer", minimum: 1, maximum: 500, default: 100 },
  after: { type: "integer" },
  dryRun: { type: "boolean" },
  state: { enum: ["open", "closed"] },
  from: { type: "string", format: "date-time" },
  q: { type: "string" },
} as const;

const read = (text: string) => readQuery(new URLSearchParams(text), DECLARED);

test("values have the types of their schemas, and defaults are filled in", () => {
  expect(read("")).toEqual({ limit: 100 });
  expect(read("limit=5&after=007&dryRun=true&state=open&from=2030-01-31T12:00:00Z&q=5")).toEqual({
    limit: 5,
    after: 7,
    dryRun: true,
    state: "open",
    from: "2030-01-31T12:00:00Z",
    q: "5",
  });
  expect(read("dryRun=false&q=")).toEqual({ limit: 100, dryRun: false, q: "" });
});

test.each([
  ["dryrun=true", 'unknown query parameter "dryrun"; known: limit, after, dryRun, state, from, q'],
  ["__proto__=1", 'unknown query parameter "__proto__"'],
  ["q=a&q=b", 'the query contains "q" twice'],
  ["limit=0", '"limit" in the query must be a whole number from 1 to 500'],
  ["limit=1e2", '"limit" in the query must be a whole number from 1 to 500'],
  ["after=-1", '"after" in the query must be a whole number'],
  ["dryRun=1", '"dryRun" in the query must be true or false'],
  ["state=", '"state" in the query must be one of open, closed'],
  ["from=2030-01-31T12:00:00", '"from" in the query must be a time such as 2030-01-31T12:00:00Z'],
])("refuses %s", (text, why) => {
  expect(() => read(text)).toThrow(why);
});
