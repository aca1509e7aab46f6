/** Shows how a tool differs from its approved version, and approves it. */
import { send } from "../../api/client.ts";
import type { ItemChange, TableTool, ToolTable } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Diff } from "../../components/diff.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh, STATES, useResource } from "../../live/resource.ts";
import { SignList } from "../../parts/sign-list.tsx";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import { useSending } from "../../use-sending.ts";
import { namespaceColumns } from "./namespace-column.ts";
import { turnOffEverywhere } from "./switch-tools.ts";
import { awaitsApproval, isSwitchable, type ToolTableRow } from "./tool-row.ts";

const texts = toolsTexts.change;

interface ChangeTabProps {
  readonly row: ToolTableRow;
  readonly table: ToolTable;
}

export function ChangeTab({ row: { tool }, table }: ChangeTabProps) {
  const params = { uuid: tool.server };
  const changes = useResource("/mcp-servers/:uuid/changes", params, STATES);
  const sending = useSending();
  const approve = async (version: string) => {
    const body = { version, tools: [tool.tool] };
    const done = await sending.run(() => send("POST /mcp-servers/:uuid/changes/approve", body, { params }));
    refresh("/mcp-servers");
    refresh("/tools");
    if (done) toast({ text: texts.approved });
  };
  return (
    <Ready of={changes}>
      {({ items, version }) => {
        const change = items.find((one) => one.of === "tools" && one.tool === tool.tool);
        if (!change) return null;
        return (
          <div class="stack">
            <p>{reasonOf(change.kind, awaitsApproval(tool))}</p>
            <SignList signs={change.signs} />
            <Diff before={change.before} after={change.after} />
            <Refused problem={sending.problem} />
            {may("servers.write") && (
              <div class="line">
                <Button kind="primary" busy={sending.busy} onClick={() => void approve(version)}>
                  {texts.approve}
                </Button>
                <TurnOff tool={tool} table={table} />
              </div>
            )}
          </div>
        );
      }}
    </Ready>
  );
}

function reasonOf(kind: ItemChange["kind"], isHeld: boolean): string {
  if (kind === "suspect") return texts.suspect(isHeld);
  return isHeld ? texts.held : texts.seen;
}

/** For a changed tool that nobody should call until it is understood. */
function TurnOff({ tool, table }: { readonly tool: TableTool; readonly table: ToolTable }) {
  const switchable = namespaceColumns(table).filter(
    ({ at, managed }) => !managed && isSwitchable(tool.in[at]),
  );
  const on = switchable.filter(({ at }) => tool.in[at] === "on");
  if (!may("namespaces.write") || switchable.length === 0) return null;
  if (on.length === 0) return <span class="muted">{texts.isOff}</span>;
  return <Button onClick={() => void turnOffEverywhere(tool, on)}>{texts.off}</Button>;
}
