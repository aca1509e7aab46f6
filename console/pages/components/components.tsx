/** Every component in every state and both themes: what is looked at in review. */
import { BothThemes, type Sample } from "./both-themes.tsx";
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
  { name: "Button", about: "Its name is a verb. One primary button a page.", Show: Buttons },
  { name: "Status", about: "Shape, word and reason together.", Show: States },
  { name: "Field", about: "Label above, help below it, problem at the end.", Show: Fields },
  { name: "Form from a schema", about: "The raw JSON is one click away.", Show: OrdinaryForm },
  { name: "Form from an odd schema", about: "What no field fits is written as JSON.", Show: OddForm },
  { name: "Refused form", about: "Problems stand where they belong.", Show: RefusedForm },
  { name: "Key values", about: "Names and their values.", Show: Values },
  { name: "Table", about: "Arrow keys move, Space selects, Enter opens.", Show: Tables },
  { name: "Long table", about: "Only what is in view is rendered.", Show: LongTable },
  { name: "Live table", about: "Nothing moves under the pointer.", Show: LiveTable },
  { name: "Menu", about: "Things to do with one thing.", Show: Menus },
  { name: "Dialog, drawer, toast", about: "What floats.", Show: Overlays },
  { name: "Tabs", about: "Arrow keys move between them.", Show: TabSample },
  { name: "JSON tree", about: "Nothing is parsed away, and only what is opened is looked at.", Show: Trees },
  { name: "Result of a tool", about: "Each part as what it is.", Show: Results },
  { name: "Failed call", about: "What went wrong, why, what to do.", Show: Failures },
  { name: "Diff", about: "What changed.", Show: Diffs },
  { name: "Log", about: "Control characters show.", Show: Logs },
  { name: "Charts", about: "Numbers over time.", Show: Charts },
  { name: "Skeleton and empty state", about: "Nothing jumps, and nothing is blank.", Show: Waiting },
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
