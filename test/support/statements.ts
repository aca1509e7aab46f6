/** Counts the statements that reach a Postgres, at its door: reads what a connection sends. */

const START_LENGTH = 4;
const HEAD = 5;

export interface Statements {
  /** Text of each, in the order they came. */
  readonly all: string[];
  /** For `cutProxy`. */
  watch(): (bytes: Buffer) => void;
}

export function countStatements(): Statements {
  const all: string[] = [];
  return { all, watch: () => reader((text) => all.push(text)) };
}

/** The first message has no type; then `Q` is a statement, and so is `P`, whose text follows its name. */
function reader(tell: (text: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let begun = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = begun ? HEAD : START_LENGTH;
      if (rest.length < head) return;
      const length = rest.readInt32BE(head - START_LENGTH) + head - START_LENGTH;
      if (rest.length < length) return;
      const [type] = rest.toString("latin1", 0, 1);
      const parts = rest.toString("utf8", head, length).split("\0");
      if (begun && type === "Q") tell(parts[0] ?? "");
      if (begun && type === "P") tell(parts[1] ?? "");
      begun = true;
      rest = rest.subarray(length);
    }
  };
}
