// A Postgres schema for gateways of the bench, behind a proxy that counts the SQL statements.

import { randomBytes } from "node:crypto";
import { connect, createServer } from "node:net";
import pg from "pg";

const ADDRESS = process.env.METAMCP_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/test";

/** Whether Postgres answers, or the reason why not. */
export async function reachPostgres() {
  try {
    await once("SELECT 1");
    return { there: true };
  } catch (error) {
    return { there: false, why: `no Postgres at ${new URL(ADDRESS).host} (${error.code ?? error.message})` };
  }
}

async function once(statement) {
  const client = new pg.Client({ connectionString: ADDRESS, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end().catch(() => {});
  }
}

/** `store` is the URL for `--store`, `direct` the same without the proxy. `statements` gets the text of each executed statement, in order. */
export async function countingPostgres() {
  const schema = `bench_${randomBytes(6).toString("hex")}`;
  await once(`CREATE SCHEMA ${schema}`);
  const statements = [];
  const target = new URL(ADDRESS);
  const proxy = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    const read = reader((text) => statements.push(text));
    near.on("data", read);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ])
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(ADDRESS);
  url.searchParams.set("options", `-c search_path=${schema}`);
  const direct = url.href;
  url.hostname = "127.0.0.1";
  url.port = proxy.address().port;
  const open = new Set();
  proxy.on("connection", (near) => {
    open.add(near);
    near.once("close", () => open.delete(near));
  });
  const drop = async () => {
    proxy.close();
    await once(`DROP SCHEMA ${schema} CASCADE`);
  };
  return { store: url.href, direct, statements, connections: () => open.size, drop };
}

const START = 4;
const HEAD = 5;

/**
 * Parses the Postgres protocol. The startup message has no type byte. `Q` executes a statement; otherwise `P`
 * prepares one, `B` binds it, `E` executes it.
 */
function reader(onStatement) {
  let rest = Buffer.alloc(0);
  let started = false;
  let bound = "";
  const prepared = new Map();
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = started ? HEAD : START;
      if (rest.length < head) return;
      const length = rest.readInt32BE(head - START) + head - START;
      if (rest.length < length) return;
      if (started) {
        const type = String.fromCharCode(rest[0]);
        const [first, second] = "QPB".includes(type)
          ? rest.toString("utf8", head, Math.min(length, head + 2_000)).split("\0")
          : [];
        if (type === "Q") onStatement(first);
        else if (type === "P") prepared.set(first, second);
        else if (type === "B") bound = prepared.get(second) ?? "";
        else if (type === "E") onStatement(bound);
      }
      started = true;
      rest = rest.subarray(length);
    }
  };
}
