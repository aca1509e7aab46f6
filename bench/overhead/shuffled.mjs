// Turns in random order: who comes after whom decides which core and which caches it finds, and in one fixed order that
// alone made a fifth.
export function shuffled(list) {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
