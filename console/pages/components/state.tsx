/** Shows one state of a component with its name. */
import type { ComponentChildren } from "preact";

export function State({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="samples-state">
      <div class="samples-name">{name}</div>
      {children}
    </div>
  );
}
