import fc from "fast-check";
import { expect, test } from "vitest";
import { AuditChain, type ChainEnd, FIRST_LINK } from "./audit-chain.ts";

const chain = new AuditChain(Buffer.alloc(32, 1));

const record = fc.record({ at: fc.nat(), fields: fc.json(), body: fc.json() });
const records = fc.array(record, { minLength: 2, maxLength: 12 });

test("records in batches of any size are one chain", () => {
  fc.assert(
    fc.property(records, fc.nat(12), (all, cut) => {
      const first = chain.rows(FIRST_LINK, all.slice(0, cut));
      const rows = [...first, ...chain.rows(first.at(-1) ?? FIRST_LINK, all.slice(cut))];
      expect(rows).toEqual(chain.rows(FIRST_LINK, all));
      let link: ChainEnd = FIRST_LINK;
      for (const row of rows) {
        expect(chain.faultOf(link, row)).toBeUndefined();
        link = row;
      }
    }),
  );
});

test("no record can be changed, moved or left out unnoticed", () => {
  fc.assert(
    fc.property(records, (all) => {
      const [first, second] = chain.rows(FIRST_LINK, all) as [
        ChainEnd & { at: number; fields: string; body: string },
        never,
      ];
      expect(chain.faultOf(FIRST_LINK, { ...first, at: first.at + 1 })).toBe("was changed");
      expect(chain.faultOf(FIRST_LINK, { ...first, body: `${first.body} ` })).toBe("was changed");
      expect(chain.faultOf(FIRST_LINK, { ...first, fields: first.body, body: `${first.fields} ` })).toBe(
        "was changed",
      );
      expect(chain.faultOf(FIRST_LINK, second)).toBe("is missing");
      expect(chain.faultOf({ ...first, hash: "" }, second)).toBe("was changed");
    }),
  );
});

test("whoever lacks the key can make neither a record nor a beginning that fits", () => {
  fc.assert(
    fc.property(records, (all) => {
      const stranger = new AuditChain(Buffer.alloc(32, 2));
      const [forged] = stranger.rows(FIRST_LINK, all) as [never];
      expect(chain.faultOf(FIRST_LINK, forged)).toBe("was changed");
      const link = { seq: 7, hash: "x" };
      expect(chain.isSealed(chain.sealed(link))).toBe(true);
      expect(chain.isSealed(stranger.sealed(link))).toBe(false);
      expect(chain.isSealed({ ...chain.sealed(link), seq: 8 })).toBe(false);
    }),
  );
});
