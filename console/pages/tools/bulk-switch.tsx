/** Switches the chosen tools in each namespace that is shown. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import type { Place } from "./place.ts";
import { switchTools } from "./switch-tools.ts";
import { isSwitchable, type ToolRowIn } from "./tool-row.ts";

const texts = toolsTexts.bulk;

interface BulkSwitchProps {
  readonly rows: readonly ToolRowIn[];
  readonly places: readonly Place[];
  readonly onDone: () => void;
}

export function BulkSwitch({ rows, places, onDone }: BulkSwitchProps) {
  const busy = useSignal(false);
  const open = places.filter(({ managed }) => !managed);
  if (open.length === 0) return <span>{texts.none}</span>;
  const run = async (place: Place, on: boolean) => {
    busy.value = true;
    const tools = rows.map(({ tool }) => tool).filter((tool) => isSwitchable(tool.in[place.at]));
    if (tools.length > 0) await switchTools(place, tools, on);
    busy.value = false;
    onDone();
  };
  return (
    <>
      {open.map((place) => (
        <>
          <Button size="small" busy={busy.value} onClick={() => void run(place, true)}>
            {texts.on(place.name)}
          </Button>
          <Button size="small" busy={busy.value} onClick={() => void run(place, false)}>
            {texts.off(place.name)}
          </Button>
        </>
      ))}
    </>
  );
}
