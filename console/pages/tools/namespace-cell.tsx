/**
 * Shows a tool in one namespace: a switch if the tool can be turned on or off here, else the reason why it is
 * off.
 */
import type { TableTool } from "../../api/types.ts";
import { Status } from "../../components/status.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { may } from "../../session.ts";
import { toolsTexts as texts } from "../../texts/tools.ts";
import type { NamespaceColumn } from "./namespace-column.ts";
import { switchTools } from "./switch-tools.ts";
import { isSwitchable } from "./tool-row.ts";

interface NamespaceCellProps {
  readonly tool: TableTool;
  readonly namespace: NamespaceColumn;
}

export function NamespaceCell({ tool, namespace }: NamespaceCellProps) {
  const state = tool.in[namespace.at];
  if (state === undefined) return <span class="muted">–</span>;
  const renamed = tool.overrides?.[namespace.at]?.name;
  const name = renamed && <code class="muted">{texts.renamed(renamed)}</code>;
  if (!isSwitchable(state) || !may("namespaces.write") || namespace.managed)
    return (
      <>
        <Status state={state === "on" ? "ok" : "off"} word={texts.states[state]} /> {name}
      </>
    );
  return (
    // A click on the switch must not open the row.
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler only stops the event.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the handler only stops the event.
    <span class="line" onClick={(event) => event.stopPropagation()}>
      <SwitchField
        label={texts.switch(tool.tool, namespace.name)}
        labelHidden
        value={state === "on"}
        onInput={(on) => void switchTools(namespace, [tool], on)}
      />
      {name}
    </span>
  );
}
