/** Turns the selected tools on or off in a namespace. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import type { NamespaceColumn } from "./namespace-column.ts";
import { switchTools } from "./switch-tools.ts";
import { isSwitchable, type ToolTableRow } from "./tool-row.ts";

const texts = toolsTexts.bulk;

interface BulkSwitchProps {
  readonly rows: readonly ToolTableRow[];
  readonly namespaces: readonly NamespaceColumn[];
  readonly onDone: () => void;
}

export function BulkSwitch({ rows, namespaces, onDone }: BulkSwitchProps) {
  const busy = useSignal(false);
  const chosen = useSignal("");
  const editable = namespaces.filter(({ managed }) => !managed);
  const namespace = editable.find(({ uuid }) => uuid === chosen.value) ?? editable[0];
  if (!namespace) return <span class="muted">{texts.none}</span>;
  const run = async (on: boolean) => {
    busy.value = true;
    const tools = rows.map(({ tool }) => tool).filter((tool) => isSwitchable(tool.in[namespace.at]));
    if (tools.length > 0) await switchTools(namespace, tools, on);
    else toast({ text: texts.nothing(namespace.name) });
    busy.value = false;
    onDone();
  };
  return (
    <>
      {editable.length > 1 && (
        <SelectField
          label={texts.where}
          labelHidden
          value={namespace.uuid}
          options={editable.map(({ uuid, name }) => ({ value: uuid, label: texts.in(name) }))}
          onInput={(uuid) => (chosen.value = uuid)}
        />
      )}
      <Button busy={busy.value} onClick={() => void run(true)}>
        {editable.length > 1 ? texts.on : texts.onIn(namespace.name)}
      </Button>
      <Button busy={busy.value} onClick={() => void run(false)}>
        {editable.length > 1 ? texts.off : texts.offIn(namespace.name)}
      </Button>
    </>
  );
}
