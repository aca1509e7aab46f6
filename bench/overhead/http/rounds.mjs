// Blocks of requests in turn, so that other work on the machine troubles all alike.
import { median } from "../median.mjs";
import { shuffled } from "../shuffled.mjs";

/** Who → CPU per request in µs and requests per second, a figure each round. `loads`: `{ name, server, load }`. */
export async function measure(loads, { requests, inFlight, rounds = 5, warm = requests }) {
  const figures = new Map(loads.map(({ name }) => [name, { cpu: [], rate: [] }]));
  // Steady state is measured: compiling the hot path is over by then.
  for (const { load } of loads) await load.calls(Math.max(warm, inFlight * 8), inFlight);
  for (let round = 0; round < rounds; round++)
    for (const { name, server, load } of shuffled(loads)) {
      const before = server.cpu();
      const ms = await load.calls(requests, inFlight);
      figures.get(name).cpu.push((server.cpu() - before) / requests);
      figures.get(name).rate.push((1_000 * requests) / ms);
    }
  for (const { load } of loads) load.close();
  return figures;
}

/** Round by round: what troubles the machine troubles neighbours alike. */
export function ratio(figures, of, to) {
  const base = figures.get(to)?.cpu;
  return base && median(figures.get(of).cpu.map((figure, round) => figure / base[round]));
}
