// Growth of the cost with the number of configured servers and with the size of the result.
import { closeAll, open, openAll, rounds } from "./measure.mjs";
import { shuffled } from "./shuffled.mjs";
import { Wire } from "./wire.mjs";

const SERVERS = [1, 10, 50, 200];
const SIZES = [16, 1_024, 16_384, 65_536, 262_144, 1_048_576];
/** Makes the measurement of each size take about the same time. */
const BYTES_PER_ROUND = 200 << 20;

const sizeText = (bytes) => (bytes < 1_024 ? `${bytes} B` : `${bytes / 1_024} KB`).replace("1024 KB", "1 MB");

/**
 * Time from start to the answer to `initialize`, and CPU per call of one server at 32 in flight. The reported
 * name is the number of configured servers.
 */
export async function byServers(target, { scale, report }) {
  const times = new Map(SERVERS.map((count) => [count, []]));
  for (let i = 0; i < Math.max(3, Math.ceil(9 * scale)); i++)
    for (const count of shuffled(SERVERS)) times.get(count).push(await startTime(target.startWith(count)));
  for (const [count, figures] of times) report("start by servers", String(count), figures);

  const opened = [];
  for (const count of SERVERS) {
    const start = () => target.startWith(count);
    opened.push(await open({ ...target, name: String(count), start }, "server-0", "echo", { message: "x" }));
  }
  for (const [count, figures] of await rounds(opened, 5, Math.ceil(8_000 * scale), 32))
    report("cpu by servers", count, figures);
  await closeAll(opened);
}

async function startTime(command) {
  const since = performance.now();
  const wire = new Wire(command);
  await wire.initialize();
  const ms = performance.now() - since;
  await wire.close();
  return ms;
}

/** CPU per call at 32 in flight, with one row per size. */
export async function bySize(targets, { scale, problem, report }) {
  for (const bytes of SIZES) {
    const opened = await openAll(targets, problem, "fixture", "big", { bytes });
    const calls = Math.ceil(Math.min(8_000, BYTES_PER_ROUND / bytes) * scale);
    for (const [name, figures] of await rounds(opened, 5, calls, 32))
      report(`cpu by size ${sizeText(bytes)}`, name, figures);
    await closeAll(opened);
  }
}

export const GROWTH = {
  servers: SERVERS.map(String),
  sizes: SIZES.map(sizeText),
};
