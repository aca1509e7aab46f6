/** Shows every component in every state and both themes, for reviews. */
import type { ComponentType } from "preact";
import { Buttons, Menus, States, Values } from "./controls.tsx";
import { Diffs, Logs, Trees } from "./data.tsx";
import { Fields } from "./forms.tsx";
import { LiveTable, LongTable, Tables } from "./lists.tsx";
import { Overlays, TabSample } from "./overlays.tsx";
import { Failures, Results } from "./results.tsx";
import { OddForm, OrdinaryForm, RefusedForm } from "./schemas.tsx";
import { Charts, Waiting } from "./waiting.tsx";
import "./components.css";

const SAMPLES: readonly Sample[] = [
  { name: "Button", about: "The label is a verb. At most one primary button per page.", Show: Buttons },
  { name: "Status", about: "Shape, word and reason.", Show: States },
  { name: "Field", about: "Label, hint, control, error.", Show: Fields },
  { name: "Form from a schema", about: "A second view edits the JSON.", Show: OrdinaryForm },
  {
    name: "Form from an odd schema",
    about: "Values without a matching field are edited as JSON.",
    Show: OddForm,
  },
  { name: "Refused form", about: "Each problem is shown at its field.", Show: RefusedForm },
  { name: "Key values", about: "Names and their values.", Show: Values },
  { name: "Table", about: "Arrow keys move, Space selects, Enter opens.", Show: Tables },
  { name: "Long table", about: "Only visible rows are rendered.", Show: LongTable },
  { name: "Live table", about: "Rows do not move while the pointer is on the table.", Show: LiveTable },
  { name: "Menu", about: "Actions for one object.", Show: Menus },
  { name: "Dialog, drawer, toast", about: "Overlays.", Show: Overlays },
  { name: "Tabs", about: "Arrow keys move between them.", Show: TabSample },
  { name: "JSON tree", about: "Numbers keep all digits; members are read when opened.", Show: Trees },
  { name: "Result of a tool", about: "Each part by its type.", Show: Results },
  { name: "Failed call", about: "The error, the reason, and what to do.", Show: Failures },
  { name: "Diff", about: "Changed values or lines.", Show: Diffs },
  { name: "Log", about: "Control characters are visible.", Show: Logs },
  { name: "Charts", about: "Numbers over time.", Show: Charts },
  { name: "Skeleton and empty state", about: "Shown while loading, and for empty lists.", Show: Waiting },
];

export default function ComponentsPage() {
  return (
    <div class="samples-page">
      <h1>Components</h1>
      {SAMPLES.map((sample) => (
        <BothThemes key={sample.name} {...sample} />
      ))}
    </div>
  );
}

interface Sample {
  readonly name: string;
  readonly about: string;
  readonly Show: ComponentType;
}

function BothThemes({ name, about, Show }: Sample) {
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
