// Random order of turns. The predecessor decides which core and caches a process finds; a fixed order alone
// changed results by a fifth.
export function shuffled(list) {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
