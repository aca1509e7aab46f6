/**
 * Keyboard control of a JSON tree: up and down move the focus, right and left expand and collapse, as usual
 * in trees.
 */
type Path = readonly (string | number)[];

export function useTreeKeys(onFocus: (path: Path, start: number, end: number) => void) {
  return {
    onFocusIn(event: FocusEvent) {
      const node = nodeOf(event.target);
      if (!node) return;
      // The tree is a single Tab stop: the item that was focused last.
      const tree = node.closest("[role=tree]");
      for (const one of tree?.querySelectorAll<HTMLElement>('[tabindex="0"][role=treeitem]') ?? [])
        one.tabIndex = -1;
      node.tabIndex = 0;
      onFocus(pathOf(node), Number(node.dataset["start"]), Number(node.dataset["end"]));
    },
    onClick(event: MouseEvent) {
      nodeOf(event.target)?.focus();
    },
    onKeyDown(event: KeyboardEvent) {
      const node = event.target as HTMLElement;
      if (node.getAttribute("role") !== "treeitem" || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = KEYS[event.key];
      if (!action) return;
      event.preventDefault();
      action(node)?.focus();
    },
  };
}

type KeyAction = (node: HTMLElement) => HTMLElement | null | undefined;

const KEYS: Readonly<Record<string, KeyAction>> = {
  ArrowDown: (node) => neighbour(node, 1),
  ArrowUp: (node) => neighbour(node, -1),
  Home: (node) => all(node)[0],
  End: (node) => all(node).at(-1),
  ArrowRight(node) {
    if (node.getAttribute("aria-expanded") === "false") return toggle(node);
    return node.querySelector<HTMLElement>("[role=treeitem]");
  },
  ArrowLeft(node) {
    if (node.getAttribute("aria-expanded") === "true") return toggle(node);
    return nodeOf(node.parentElement);
  },
  Enter: toggle,
  " ": toggle,
};

function toggle(node: HTMLElement): undefined {
  node.querySelector<HTMLElement>(":scope > .json-toggle, :scope > .json-row > .json-open")?.click();
}

function all(node: HTMLElement): readonly HTMLElement[] {
  return [...(node.closest("[role=tree]")?.querySelectorAll<HTMLElement>("[role=treeitem]") ?? [])];
}

function neighbour(node: HTMLElement, step: number): HTMLElement | undefined {
  const nodes = all(node);
  return nodes[nodes.indexOf(node) + step];
}

function nodeOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[role=treeitem]") : null;
}

function pathOf(node: HTMLElement): Path {
  const path: (string | number)[] = [];
  for (let one: HTMLElement | null = node; one; one = nodeOf(one.parentElement))
    if (one.dataset["key"] !== undefined) path.unshift(JSON.parse(one.dataset["key"]) as string | number);
  return path;
}
