// Start time with an empty store, from spawn to listening, in turn with bare Node; and the memory of an idle
// gateway.
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../overhead/median.mjs";
import { row } from "./row.mjs";
import { node, spawnGateway } from "./serve.mjs";

const IDLE_MS = 1_500;

async function bareNode() {
  const since = performance.now();
  await new Promise((resolve) => spawn(node, ["-e", "0"], { stdio: "ignore" }).once("exit", resolve));
  return performance.now() - since;
}

async function gateway(idleMs) {
  const since = performance.now();
  const { server, listening } = spawnGateway("start");
  await listening;
  const ms = performance.now() - since;
  await pause(idleMs);
  const megabytes = server.rss() / 1e6;
  await server.stop();
  return { ms, megabytes };
}

export async function measure({ of }) {
  const figures = [];
  for (let round = 0; round < of(11, 2); round++) {
    const bare = await bareNode();
    figures.push({ bare, ...(await gateway(of(round < 3 ? IDLE_MS : 0, 0))) });
  }
  const ratio = median(figures.map(({ ms, bare }) => ms / bare));
  const note = `${median(figures.map(({ ms }) => ms)).toFixed(0)} ms and ${median(figures.map(({ bare }) => bare)).toFixed(0)} ms`;
  const idle = median(figures.slice(0, 3).map(({ megabytes }) => megabytes));
  return [
    row("start with an empty store, to listening ÷ `node -e 0`", ratio, { limit: 4, note }),
    row("idle memory of `serve`, resident", idle, { limit: 90, unit: " MB", digits: 0 }),
  ];
}
