import fc from "fast-check";
import { expect, test } from "vitest";
import { FLOW_COLUMNS, type FlowPath, type FlowSpace, flowLayout, REST } from "./flow-layout.ts";

const SPACE: FlowSpace = { columns: FLOW_COLUMNS, xs: [0, 100, 200, 300], height: 240, label: 30, most: 12 };

const path: fc.Arbitrary<FlowPath> = fc
  .record({
    client: fc.integer({ max: 30, min: 0 }).map((n) => `c${n}`),
    endpoint: fc.integer({ max: 20, min: 0 }).map((n) => `e${n}`),
    namespace: fc.integer({ max: 5, min: 0 }).map((n) => `n${n}`),
    server: fc.integer({ max: 60, min: 0 }).map((n) => `s${n}`),
    errors: fc.integer({ max: 9, min: 0 }),
    refused: fc.integer({ max: 9, min: 0 }),
    ok: fc.integer({ max: 5_000, min: 1 }),
  })
  .map(({ ok, ...rest }) => ({ ...rest, calls: ok + rest.errors + rest.refused }));

test("no nodes overlap, sizes are proportional to calls, and every call is in every column", () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 80 }), (paths) => {
      const total = paths.reduce((sum, { calls }) => sum + calls, 0);
      const { nodes, ribbons, height, scale } = flowLayout(paths, SPACE);
      for (const column of FLOW_COLUMNS) {
        const inColumn = nodes.filter((node) => node.column === column).sort((a, b) => a.y - b.y);
        expect(inColumn.length).toBeLessThanOrEqual(SPACE.most);
        expect(inColumn.reduce((sum, { calls }) => sum + calls, 0)).toBe(total);
        for (const [at, node] of inColumn.entries()) {
          expect(node.height).toBeCloseTo(node.calls * scale);
          expect(node.y).toBeGreaterThanOrEqual(-1e-6);
          expect(node.y + node.height).toBeLessThanOrEqual(height + 1e-6);
          const next = inColumn[at + 1];
          if (next) expect(next.y).toBeGreaterThan(node.y + node.height);
        }
      }
      for (const node of nodes)
        for (const side of ["from", "to"] as const) {
          const edge = side === "from" ? "y0" : "y1";
          const here = ribbons.filter((ribbon) => ribbon[side] === node).sort((a, b) => a[edge] - b[edge]);
          if (here.length === 0) continue;
          expect(here.reduce((sum, { calls }) => sum + calls, 0)).toBe(node.calls);
          let y = node.y;
          for (const ribbon of here) {
            expect(ribbon[edge]).toBeCloseTo(y);
            expect(ribbon.width).toBeCloseTo(ribbon.calls * scale);
            y += ribbon.width;
          }
        }
    }),
  );
});

test("beyond twelve the rest is gathered, and stands last", () => {
  const paths = Array.from(
    { length: 60 },
    (_, i): FlowPath => ({
      client: "cursor",
      endpoint: "dev",
      namespace: "all",
      server: `s${i}`,
      calls: 100 - i,
      errors: 1,
      refused: 0,
    }),
  );
  const servers = flowLayout(paths, SPACE).nodes.filter(({ column }) => column === "server");
  expect(servers).toHaveLength(12);
  expect(servers.find(({ id }) => id === REST)).toMatchObject({ of: 49, errors: 49 });
  expect(Math.max(...servers.map(({ y }) => y))).toBe(servers.find(({ id }) => id === REST)?.y);
});

test("a small server or client that fails is not gathered with the rest", () => {
  const one = (at: number): FlowPath => ({
    client: `c${at}`,
    endpoint: "dev",
    namespace: "all",
    server: `s${at}`,
    calls: at === 59 ? 2 : at === 58 ? 3 : 1000 - at,
    errors: at === 59 ? 2 : 0,
    refused: at === 58 ? 3 : 0,
  });
  const { nodes } = flowLayout(
    Array.from({ length: 60 }, (_, at) => one(at)),
    SPACE,
  );
  const shown = nodes.map(({ id }) => id);
  expect(shown).toEqual(expect.arrayContaining(["s0", "s1", "s2", "s3", "s58", "s59", "c58", "c59", REST]));
});

test("without calls there is nothing to draw", () => {
  expect(flowLayout([], SPACE)).toEqual({ nodes: [], ribbons: [], height: 0, scale: 0 });
});
