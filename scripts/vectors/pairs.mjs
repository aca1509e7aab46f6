// What the word vectors are trained on: questions, each with the tool that answers it, as bags of words.
/** Like the weights of fields in src/catalog/search/meaning.ts. */
const FIELDS = { name: 3, description: 1, server: 1, parameters: 0.5, serverText: 0.3 };

/** `lines`: those of our examples. The names of a line together stand for the tool. */
export function pairsOfExamples(lines, code) {
  const tools = [];
  const pairs = [];
  for (const line of lines.filter((text) => text.includes(" -> "))) {
    const [questions, names] = line.split(" -> ");
    tools.push(
      bag(
        names.split(" / ").map((name) => [code.contentWords(name), 1]),
        code,
      ),
    );
    for (const text of questions.split(" | "))
      pairs.push({ question: questionBag(text, code), tool: tools.length - 1 });
  }
  return list("examples", tools, pairs);
}

/** `set`: as bench/retrieval/data.mjs reads it. */
export function pairsOfSet({ name, tools, queries }, code) {
  const places = new Map(tools.map(({ id }, at) => [id, at]));
  const pairs = queries.flatMap(({ text, gold }) =>
    gold
      .filter((id) => places.has(id))
      .map((id) => ({ question: questionBag(text, code), tool: places.get(id) })),
  );
  return list(
    name,
    tools.map((tool) => toolBag(tool, code)),
    pairs,
  );
}

/** Without what has no known word. */
function list(name, tools, pairs) {
  return {
    name,
    tools,
    pairs: pairs.filter(({ question, tool }) => question.length > 0 && tools[tool].length > 0),
  };
}

function questionBag(text, code) {
  return bag([[new Set(code.contentWords(text)), 1]], code);
}

function toolBag({ name, description, server, server_description, inputSchema }, code) {
  const parameters = Object.keys(inputSchema?.properties ?? {}).join(" ");
  const texts = { name, description, server, parameters, serverText: server_description };
  return bag(
    Object.entries(FIELDS).map(([field, weight]) => [code.contentWords(texts[field] ?? ""), weight]),
    code,
  );
}

/** `parts`: words and what each of them counts. */
function bag(parts, { table }) {
  const weights = new Map();
  for (const [words, factor] of parts) {
    for (const word of words) {
      const row = table.row(word);
      if (row >= 0) weights.set(row, (weights.get(row) ?? 0) + factor * table.weight(row));
    }
  }
  return [...weights];
}
