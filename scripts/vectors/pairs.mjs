// Training data for the word vectors: questions, each with the right tool, as bags of words.

/** Like the field weights in src/catalog/search/built-in-vectors.ts. */
const FIELDS = { name: 3, description: 1, server: 1, parameters: 0.5, serverText: 0.3 };

/** Pairs from the lines of our examples. All names of a line together are one tool. */
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

/** Pairs from a set that bench/retrieval/data.mjs read. */
export function pairsOfSet({ name, tools, queries }, code) {
  const indexes = new Map(tools.map(({ id }, at) => [id, at]));
  const pairs = queries.flatMap(({ text, gold }) =>
    gold
      .filter((id) => indexes.has(id))
      .map((id) => ({ question: questionBag(text, code), tool: indexes.get(id) })),
  );
  return list(
    name,
    tools.map((tool) => toolBag(tool, code)),
    pairs,
  );
}

/** Leaves out pairs with a question or a tool that has no known word. */
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

/** `parts` are lists of words, each with the weight of its words. */
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
