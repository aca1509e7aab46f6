/**
 * The geometry of the picture of who calls what: nodes in columns, ribbons between them. The height of a node
 * and the width of a ribbon are proportional to calls; no two nodes or ribbons at a node overlap. Pure.
 */
export const FLOW_COLUMNS = ["client", "endpoint", "namespace", "server"] as const;
export type FlowColumn = (typeof FLOW_COLUMNS)[number];

/** How often one way was taken. Each column has the id of what the call came by. */
export interface FlowPath extends Readonly<Record<FlowColumn, string>> {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
}

export interface FlowCounts {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
}

export interface FlowNode extends FlowCounts {
  readonly column: FlowColumn;
  /** The id, or `REST` for those that have no node of their own. */
  readonly id: string;
  /** How many things the node stands for. */
  readonly of: number;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface Ribbon extends FlowCounts {
  readonly from: FlowNode;
  readonly to: FlowNode;
  /** The upper edge at both ends. */
  readonly y0: number;
  readonly y1: number;
  readonly width: number;
}

export interface FlowLayout {
  readonly nodes: readonly FlowNode[];
  readonly ribbons: readonly Ribbon[];
  readonly height: number;
  /** Pixels for one call. */
  readonly scale: number;
}

export interface FlowSpace {
  readonly columns: readonly FlowColumn[];
  /** Left edge of each column. */
  readonly xs: readonly number[];
  /** The height of all calls together. */
  readonly height: number;
  /** Room that the label of a node needs, at least. */
  readonly label: number;
  /** Nodes of a column. The rest is gathered in the last. */
  readonly most: number;
}

export const REST = "\0rest";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function flowLayout(paths: readonly FlowPath[], space: FlowSpace): FlowLayout {
  const total = sumOf(paths);
  const scale = total.calls === 0 ? 0 : space.height / total.calls;
  const shown = space.columns.map((column) => shownIn(paths, column, space.most));
  const idAt = (path: FlowPath, at: number): string => {
    const id = path[space.columns[at] as FlowColumn];
    return shown[at]?.has(id) ? id : REST;
  };
  const columns: Mutable<FlowNode>[][] = [];
  const links: Link[] = [];
  for (const [at, column] of space.columns.entries()) {
    const nodes = nodesOf(paths, { column, x: space.xs[at] ?? 0, idOf: (path) => idAt(path, at), scale });
    const before = columns.at(-1);
    if (before) {
      const between = linksOf(paths, before, nodes, (path) => [idAt(path, at - 1), idAt(path, at)]);
      order(nodes, between);
      links.push(...between);
    }
    stack(nodes, space.label);
    columns.push(nodes);
  }
  const height = Math.max(0, ...columns.map((nodes) => columnHeight(nodes, space.label)));
  for (const nodes of columns) {
    const above = (height - columnHeight(nodes, space.label)) / 2;
    for (const node of nodes) node.y += above;
  }
  return { nodes: columns.flat(), ribbons: ribbonsOf(links, scale), height, scale };
}

/** The outline of a ribbon, or of a part of its width. */
export function ribbonPath(
  { from, to, y0, y1 }: Ribbon,
  nodeWidth: number,
  part: { at: number; width: number },
): string {
  const [x0, x1] = [from.x + nodeWidth, to.x];
  const middle = (x0 + x1) / 2;
  const [a, b] = [y0 + part.at, y1 + part.at];
  const curve = (ya: number, yb: number, back = false): string =>
    `C${middle} ${round(ya)} ${middle} ${round(yb)} ${back ? x0 : x1} ${round(yb)}`;
  return `M${x0} ${round(a)}${curve(a, b)}L${x1} ${round(b + part.width)}${curve(b + part.width, a + part.width, true)}Z`;
}

interface Link extends FlowCounts {
  readonly from: FlowNode;
  readonly to: FlowNode;
}

/**
 * The ids with nodes of their own. Half of the places go to most calls, and the others first to those of
 * which the largest share failed or was refused, because a small server that always fails must be seen.
 */
function shownIn(paths: readonly FlowPath[], column: FlowColumn, most: number): ReadonlySet<string> {
  const byCalls = [...grouped(paths, (path) => path[column])]
    .map(([id, group]) => ({ id, ...sumOf(group) }))
    .sort((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1));
  if (byCalls.length <= most) return new Set(byCalls.map(({ id }) => id));
  const busy = Math.ceil((most - 1) / 2);
  const worst = byCalls.slice(busy).sort((a, b) => troubleOf(b) - troubleOf(a));
  return new Set([...byCalls.slice(0, busy), ...worst.slice(0, most - 1 - busy)].map(({ id }) => id));
}

function troubleOf({ calls, errors, refused }: FlowCounts): number {
  return (errors + refused) / Math.max(1, calls);
}

interface ColumnFacts {
  readonly column: FlowColumn;
  readonly x: number;
  readonly idOf: (path: FlowPath) => string;
  readonly scale: number;
}

function nodesOf(paths: readonly FlowPath[], { column, x, idOf, scale }: ColumnFacts): Mutable<FlowNode>[] {
  const groups = grouped(paths, idOf);
  return [...groups]
    .map(([id, group]) => {
      const counts = sumOf(group);
      const of = new Set(group.map((path) => path[column])).size;
      return { column, id, of, x, y: 0, height: counts.calls * scale, ...counts };
    })
    .sort(
      (a, b) => Number(a.id === REST) - Number(b.id === REST) || b.calls - a.calls || (a.id < b.id ? -1 : 1),
    );
}

function linksOf(
  paths: readonly FlowPath[],
  before: readonly FlowNode[],
  after: readonly FlowNode[],
  endsOf: (path: FlowPath) => readonly [string, string],
): readonly Link[] {
  const groups = grouped(paths, (path) => JSON.stringify(endsOf(path)));
  return [...groups.values()].flatMap((group) => {
    const [a, b] = endsOf(group[0] as FlowPath);
    const from = before.find(({ id }) => id === a);
    const to = after.find(({ id }) => id === b);
    return from && to ? [{ from, to, ...sumOf(group) }] : [];
  });
}

/** Nodes stand where their calls come from, so that ribbons cross little. What is gathered stays last. */
function order(nodes: Mutable<FlowNode>[], links: readonly Link[]): void {
  const middleOf = (node: FlowNode): number => {
    const to = links.filter((link) => link.to === node);
    const weight = to.reduce((sum, { calls }) => sum + calls, 0);
    return (
      to.reduce((sum, { from, calls }) => sum + (from.y + from.height / 2) * calls, 0) / Math.max(1, weight)
    );
  };
  const places = new Map(nodes.map((node) => [node, middleOf(node)]));
  nodes.sort(
    (a, b) =>
      Number(a.id === REST) - Number(b.id === REST) ||
      (places.get(a) ?? 0) - (places.get(b) ?? 0) ||
      b.calls - a.calls,
  );
}

const GAP = 10;

function stack(nodes: readonly Mutable<FlowNode>[], label: number): void {
  let y = 0;
  for (const node of nodes) {
    const room = Math.max(node.height, label);
    node.y = y + (room - node.height) / 2;
    y += room + GAP;
  }
}

function columnHeight(nodes: readonly FlowNode[], label: number): number {
  return (
    nodes.reduce((sum, { height }) => sum + Math.max(height, label), 0) + GAP * Math.max(0, nodes.length - 1)
  );
}

/** At both ends ribbons lie in the order of the nodes at their other end. */
function ribbonsOf(links: readonly Link[], scale: number): readonly Ribbon[] {
  const used = new Map<FlowNode, { in: number; out: number }>();
  const at = (node: FlowNode) => {
    const found = used.get(node) ?? { in: 0, out: 0 };
    used.set(node, found);
    return found;
  };
  const y0s = new Map<Link, number>();
  for (const link of links.toSorted((a, b) => a.to.y - b.to.y)) {
    const place = at(link.from);
    y0s.set(link, link.from.y + place.out);
    place.out += link.calls * scale;
  }
  return links
    .toSorted((a, b) => a.from.y - b.from.y)
    .map((link) => {
      const place = at(link.to);
      const y1 = link.to.y + place.in;
      place.in += link.calls * scale;
      return { ...link, y0: y0s.get(link) ?? 0, y1, width: link.calls * scale };
    });
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

function sumOf(all: readonly FlowCounts[]): FlowCounts {
  const add = (name: keyof FlowCounts): number => all.reduce((sum, one) => sum + one[name], 0);
  return { calls: add("calls"), errors: add("errors"), refused: add("refused") };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
