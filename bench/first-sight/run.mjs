// Prints how well the signs tell attacks from harmless texts, and what they cost. Asserts nothing.
// npm run bench:first-sight [-- --lists FOLDER …] [--misses]
import { parseArgs } from "node:util";
import { loadCode } from "./code.mjs";
import { attacks, harmless, itemOf, realLists } from "./corpus.mjs";

const { values } = parseArgs({
  options: { lists: { type: "string", multiple: true, default: [] }, misses: { type: "boolean" } },
});
const { textSigns, signContext } = await loadCode();
const PARTS = ["tune", "held", "second"];
const contexts = new Map();

const raw = (value) => Buffer.from(JSON.stringify(value));
const check = (entry) => {
  const { definition, lists } = itemOf(entry);
  return textSigns(raw(definition), signContext("s", lists));
};
const isHard = (signs) => signs.some(({ severity }) => severity === "hard");
const percent = (part, whole) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`);

const lists = realLists(values.lists);
const tools = lists.flatMap(({ server, tools, from }) => tools.map((tool) => ({ server, from, tool })));
const realSigns = tools.map((one) => {
  const { name, title, description, inputSchema, annotations } = one.tool;
  const definition = raw({ name, title, description, inputSchema, annotations });
  return {
    ...one,
    alone: textSigns(definition, contextOf(one, [])),
    among: textSigns(definition, contextOf(one, lists)),
  };
});
const alarms = (test) => realSigns.filter(({ alone, among }) => test(alone) || test(among));

console.log(
  "| part | attacks | hard: recall | hard: precision | hard or soft: recall | hard or soft: precision |",
);
console.log("|---|---|---|---|---|---|");
for (const part of PARTS) {
  const bad = attacks(part).map(check);
  const good = harmless(part).map(check);
  const row = [isHard, (signs) => signs.length > 0].flatMap((test) => {
    const [hits, wrong] = [bad.filter(test).length, good.filter(test).length + alarms(test).length];
    return [percent(hits, bad.length), percent(hits, hits + wrong)];
  });
  console.log(`| ${part} | ${bad.length} | ${row.join(" | ")} |`);
}
console.log(
  "\n| kind of attack | tune: hard, any, of | held: hard, any, of | second: hard, any, of |\n|---|---|---|---|",
);
for (const kind of new Set(attacks("tune").map((one) => one.kind))) {
  const cells = PARTS.map((part) => {
    const signs = attacks(part)
      .filter((one) => one.kind === kind)
      .map(check);
    return `${signs.filter(isHard).length}, ${signs.filter((one) => one.length > 0).length}, ${signs.length}`;
  });
  console.log(`| ${kind} | ${cells.join(" | ")} |`);
}
console.log("\n| harmless texts | number | with hard signs | with soft signs only |\n|---|---|---|---|");
for (const part of PARTS) {
  const good = harmless(part).map(check);
  const hard = good.filter(isHard).length;
  console.log(
    `| written for it, ${part} | ${good.length} | ${hard} | ${good.filter((one) => one.length > 0).length - hard} |`,
  );
}
for (const [from, own] of grouped(realSigns)) {
  const hard = own.filter(({ alone, among }) => isHard(alone) || isHard(among)).length;
  const any = own.filter(({ alone, among }) => alone.length + among.length > 0).length;
  console.log(`| tools of real servers, ${from} | ${own.length} | ${hard} | ${any - hard} |`);
}
printCost();
if (values.misses) printMisses();

/** Alone, and with all other lists beside it; those of the same server in other files are not others. */
function contextOf({ server, from }, all) {
  const key = `${from} ${server} ${all.length}`;
  let context = contexts.get(key);
  if (!context) {
    const own = lists.find((one) => one.server === server && one.from === from);
    const others = all.filter((one) => one.server !== server && one.from === from);
    context = signContext(server, [...others, own]);
    contexts.set(key, context);
  }
  return context;
}

function printCost() {
  const some = Array.from({ length: 1_000 }, (_, at) => tools[(at * 7) % tools.length]);
  const definitions = some.map(({ tool }) => raw({ ...tool, id: undefined }));
  const context = signContext("none", lists);
  const times = Array.from({ length: 5 }, () => {
    const since = process.cpuUsage();
    for (const definition of definitions) textSigns(definition, context);
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1_000;
  });
  const bytes = definitions.reduce((sum, { length }) => sum + length, 0);
  const [least] = times.toSorted((a, b) => a - b);
  console.log(
    `\n1,000 tools of real servers (${Math.round(bytes / 1_024)} KB): ${least.toFixed(0)} ms of processor time, least of 5; the first time ${times[0].toFixed(0)} ms`,
  );
}

/** Only of the part that the rules were written with. */
function printMisses() {
  for (const one of attacks("tune"))
    if (!isHard(check(one)))
      console.log(
        "not hard:",
        one.id,
        one.kind,
        JSON.stringify(check(one).map(({ sign }) => sign)),
        JSON.stringify(itemOf(one).definition).slice(0, 200),
      );
  for (const one of harmless("tune"))
    if (check(one).length > 0) console.log("alarm:", one.id, one.why, JSON.stringify(check(one)));
  for (const { from, server, tool, alone, among } of alarms((signs) => signs.length > 0)) {
    const signs = among.length > 0 ? among : alone;
    for (const { severity, sign, path, excerpt } of signs)
      console.log(`${severity}: ${from} ${server}:${tool.name} ${sign} ${path}: ${excerpt}`);
  }
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(one.from, [...(groups.get(one.from) ?? []), one]);
  return groups;
}
