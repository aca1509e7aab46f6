/** Shows one sample in the light and the dark theme, side by side on wide screens. */
import type { ComponentType } from "preact";

export interface Sample {
  readonly name: string;
  readonly about: string;
  readonly Show: ComponentType;
}

export function BothThemes({ name, about, Show }: Sample) {
  const id = name.toLowerCase().replaceAll(" ", "-");
  return (
    <section class="samples" aria-labelledby={id}>
      <header class="samples-head">
        <h2 id={id}>{name}</h2>
        <p class="muted">{about}</p>
      </header>
      <div class="samples-themes">
        {THEMES.map((theme) => (
          <div key={theme} class="samples-theme" data-theme={theme}>
            <Show />
          </div>
        ))}
      </div>
    </section>
  );
}

const THEMES = ["light", "dark"] as const;
