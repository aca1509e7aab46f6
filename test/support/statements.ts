/** Records the SQL statements of Postgres connections by parsing their protocol messages. */

const START_LENGTH = 4;
const HEAD = 5;

export interface Statements {
  /** The text of each statement, in order. */
  readonly all: string[];
  /** For `cutProxy`. */
  watch(): (bytes: Buffer) => void;
}

export function countStatements(): Statements {
  const all: string[] = [];
  return { all, watch: () => reader((text) => all.push(text)) };
}

/**
 * The startup message has no type byte. After it, `Q` and `P` messages contain statements; in `P` the text
 * follows the name.
 */
function reader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = started ? HEAD : START_LENGTH;
      if (rest.length < head) return;
      const length = rest.readInt32BE(head - START_LENGTH) + head - START_LENGTH;
      if (rest.length < length) return;
      const [type] = rest.toString("latin1", 0, 1);
      const parts = rest.toString("utf8", head, length).split("\0");
      if (started && type === "Q") onStatement(parts[0] ?? "");
      if (started && type === "P") onStatement(parts[1] ?? "");
      started = true;
      rest = rest.subarray(length);
    }
  };
}
