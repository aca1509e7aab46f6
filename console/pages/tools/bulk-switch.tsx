/** Switches the chosen tools in a namespace. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { toast } from "../../components/toasts.tsx";
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
  const chosen = useSignal("");
  const open = places.filter(({ managed }) => !managed);
  const place = open.find(({ uuid }) => uuid === chosen.value) ?? open[0];
  if (!place) return <span class="muted">{texts.none}</span>;
  const run = async (on: boolean) => {
    busy.value = true;
    const tools = rows.map(({ tool }) => tool).filter((tool) => isSwitchable(tool.in[place.at]));
    if (tools.length > 0) await switchTools(place, tools, on);
    else toast({ text: texts.nothing(place.name) });
    busy.value = false;
    onDone();
  };
  return (
    <>
      {open.length > 1 && (
        <SelectField
          label={texts.where}
          labelHidden
          value={place.uuid}
          options={open.map(({ uuid, name }) => ({ value: uuid, label: texts.in(name) }))}
          onInput={(uuid) => (chosen.value = uuid)}
        />
      )}
      <Button busy={busy.value} onClick={() => void run(true)}>
        {open.length > 1 ? texts.on : texts.onIn(place.name)}
      </Button>
      <Button busy={busy.value} onClick={() => void run(false)}>
        {open.length > 1 ? texts.off : texts.offIn(place.name)}
      </Button>
    </>
  );
}
