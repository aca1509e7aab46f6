// A replica that has just started lists the tools of servers that another one knows, and starts none of them.
import { setTimeout as pause } from "node:timers/promises";
import { row } from "../gateway/row.mjs";
import { allOf, fixtures } from "../gateway/serve.mjs";
import { ask } from "../overhead/http/load.mjs";
import { Team } from "./team.mjs";

const SERVERS = 50;

async function tools(member, headers) {
  const { answer } = await ask(member.urlOf("e"), { id: 2, method: "tools/list", params: {} }, headers);
  return answer.result.tools.length;
}

/** Lists are stored one after the other, after they were learned. */
async function stored({ statements }) {
  const writes = () => statements.filter((text) => /INTO metamcp_records/.test(text)).length;
  for (let before = -1; before < writes(); ) {
    before = writes();
    await pause(2_000);
  }
}

export async function measure() {
  const servers = fixtures(SERVERS, "--bare", "--tools", "3");
  const endpoints = { e: { namespaces: ["n"], surface: "aggregate" } };
  const team = await new Team({ counted: true }).open(1, {
    document: { servers, namespaces: { n: allOf(servers) }, endpoints },
  });
  const [first] = team.members;
  const credentials = await first.key();
  const known = await first.openAt("e", credentials);
  await first.retry(async () => {
    const count = await tools(first, known);
    if (count < 3 * SERVERS) throw new Error(`${count} tools are listed`);
  });
  await stored(team);
  const fresh = await team.start("fresh");
  const headers = await fresh.openAt("e", credentials);
  const since = performance.now();
  const listed = await tools(fresh, headers);
  const ms = performance.now() - since;
  const started = fresh.childPids().length;
  await team.close();
  if (listed !== 3 * SERVERS) throw new Error(`the new replica listed ${listed} tools`);
  return [
    row(`initialize to first list at a fresh replica, ${SERVERS} servers known: processes started`, started, {
      limit: 0,
      digits: 0,
      note: `${listed} tools, ${ms.toFixed(0)} ms`,
    }),
  ];
}
