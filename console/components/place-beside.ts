/** Positions a popover beside its opener, on the side with more room. Works before the size of the popover is known. */
const GAP = 4;

export function placeBeside(floating: HTMLElement, opener: HTMLElement): void {
  const { top, bottom, left, right } = opener.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const below = bottom < innerHeight * 0.6;
  const fromLeft = left + right < width;
  const { style } = floating;
  style.top = below ? px(bottom + GAP) : "auto";
  style.bottom = below ? "auto" : px(innerHeight - top + GAP);
  style.left = fromLeft ? px(Math.max(left, GAP)) : "auto";
  style.right = fromLeft ? "auto" : px(Math.max(width - right, GAP));
  style.maxHeight = px((below ? innerHeight - bottom : top) - 2 * GAP);
}

function px(value: number): string {
  return `${Math.round(value)}px`;
}
