/** A placeholder of the same size as the content that is loading. */
import { componentTexts } from "../texts/components.ts";
import "./skeleton.css";

export interface SkeletonProps {
  readonly rows?: number;
  /** `row` has the height of a table row, `block` has `height`. */
  readonly kind?: "text" | "row" | "block";
  readonly height?: number;
}

export function Skeleton({ rows = 3, kind = "text", height = 96 }: SkeletonProps) {
  const count = kind === "block" ? 1 : rows;
  return (
    <div class={`skeleton skeleton-${kind}`} role="status" aria-busy="true">
      <span class="for-screen-readers">{componentTexts.loading}</span>
      {Array.from({ length: count }, (_, index) => (
        <div
          key={index}
          class="skeleton-bar"
          {...(kind === "block" ? { style: { height: `${height}px` } } : {})}
        />
      ))}
    </div>
  );
}
