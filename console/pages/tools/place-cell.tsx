/** A tool in one namespace: a switch where that is what decides, else why it is not there. */
import type { TableTool } from "../../api/types.ts";
import { Status } from "../../components/status.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { may } from "../../session.ts";
import { toolsTexts as texts } from "../../texts/tools.ts";
import type { Place } from "./place.ts";
import { switchTools } from "./switch-tools.ts";
import { isSwitchable } from "./tool-row.ts";

interface PlaceCellProps {
  readonly tool: TableTool;
  readonly place: Place;
}

export function PlaceCell({ tool, place }: PlaceCellProps) {
  const state = tool.in[place.at];
  if (state === undefined) return <span class="muted">–</span>;
  const renamed = tool.overrides?.[place.at]?.name;
  const name = renamed && <code class="muted">{texts.renamed(renamed)}</code>;
  if (!isSwitchable(state) || !may("namespaces.write") || place.managed)
    return (
      <>
        <Status state={state === "on" ? "ok" : "off"} word={texts.states[state]} /> {name}
      </>
    );
  return (
    // A click here switches; it does not open the row.
    // biome-ignore lint/a11y/noStaticElementInteractions: it takes no action of its own.
    // biome-ignore lint/a11y/useKeyWithClickEvents: it takes no action of its own.
    <span class="line" onClick={(event) => event.stopPropagation()}>
      <SwitchField
        label={texts.switch(tool.tool, place.name)}
        labelHidden
        value={state === "on"}
        onInput={(on) => void switchTools(place, [tool], on)}
      />
      {name}
    </span>
  );
}
