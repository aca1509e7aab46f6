// Blocks of requests in turn, so that other load on the machine affects all candidates alike.
import { median } from "../median.mjs";
import { shuffled } from "../shuffled.mjs";

/**
 * Returns CPU per request in µs and requests per second by name, one figure per round. `loads`: `{ name,
 * server, load }`.
 */
export async function measure(loads, { requests, inFlight, rounds = 5, warm = requests }) {
  const figures = new Map(loads.map(({ name }) => [name, { cpu: [], rate: [] }]));
  // Warm up, so that V8 has compiled the hot path before the measurement.
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

/**
 * The median of the ratios of each round, because load on the machine affects the candidates of one round
 * alike.
 */
export function ratio(figures, of, to) {
  const base = figures.get(to)?.cpu;
  return base && median(figures.get(of).cpu.map((figure, round) => figure / base[round]));
}
