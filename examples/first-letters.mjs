/**
 * A search strategy gets the tools of all servers and ranks them. This one counts how many first letters a
 * name has in common with the question.
 */
export function createFirstLetters() {
  const known = new Map();
  return {
    update: (server, tools) => known.set(server, tools),
    remove: (server) => known.delete(server),
    search: async (query, { limit, scope = () => true }) =>
      [...known]
        .flatMap(([server, tools]) => tools.map(({ name }) => ({ server, name })))
        .filter(({ server, name }) => scope(server, name))
        .map((hit) => ({ ...hit, score: commonLetters(hit.name, query) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score || (idOf(a) < idOf(b) ? -1 : 1))
        .slice(0, limit)
        .map((hit) => ({ ...hit, confidence: hit.score / (hit.score + 1) })),
  };
}

const idOf = ({ server, name }) => `${server}:${name}`;

function commonLetters(name, query) {
  let count = 0;
  while (count < name.length && name[count] === query[count]) count++;
  return count;
}
