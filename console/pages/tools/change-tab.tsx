/** Shows how a tool differs from its approved version, and approves it. */
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Diff } from "../../components/diff.tsx";
import { toast } from "../../components/toasts.tsx";
import { refresh, STATES, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import { useSending } from "../../use-sending.ts";
import type { ToolTableRow } from "./tool-row.ts";

const texts = toolsTexts.change;

export function ChangeTab({ row: { tool } }: { readonly row: ToolTableRow }) {
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
        const change = items.find((one) => one.tool === tool.tool);
        if (!change) return null;
        return (
          <div class="stack">
            <p>{texts.text}</p>
            <Diff before={change.before} after={change.after} />
            <Refused problem={sending.problem} />
            {may("servers.write") && (
              <div class="line">
                <Button kind="primary" busy={sending.busy} onClick={() => void approve(version)}>
                  {texts.approve}
                </Button>
              </div>
            )}
          </div>
        );
      }}
    </Ready>
  );
}
