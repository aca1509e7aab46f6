/** Turns tools on or off in a namespace, in one revision, and shows a toast with an undo button. */
import { send } from "../../api/client.ts";
import type { TableTool } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { runWithToast } from "../../run-with-toast.ts";
import { toolsTexts } from "../../texts/tools.ts";
import { toastWithUndo } from "../../undo.ts";
import type { NamespaceColumn } from "./namespace-column.ts";

const texts = toolsTexts.bulk;

export async function switchTools(
  namespace: NamespaceColumn,
  tools: readonly TableTool[],
  on: boolean,
): Promise<void> {
  const changed = tools.filter((tool) => (tool.in[namespace.at] === "on") !== on);
  const same = tools.length - changed.length;
  if (changed.length === 0) {
    toast({ text: texts.same(same, on) });
    return;
  }
  const set = changed.map(({ server, tool }) => ({ server, tool, disabled: !on }));
  await runWithToast(async () => {
    await send("POST /namespaces/:uuid/tools", { set }, { params: { uuid: namespace.uuid } });
    await toastWithUndo(texts.done(changed.length, on, same));
  });
  refresh("/tools");
}

/** One revision for each namespace; undo takes all of them back. */
export async function turnOffEverywhere(
  { server, tool }: TableTool,
  namespaces: readonly NamespaceColumn[],
): Promise<void> {
  const set = [{ server, tool, disabled: true }];
  await runWithToast(async () => {
    const made: number[] = [];
    for (const { uuid } of namespaces)
      made.push((await send("POST /namespaces/:uuid/tools", { set }, { params: { uuid } })).revision);
    await toastWithUndo(toolsTexts.change.offDone(tool, made.length), made);
  });
  refresh("/tools");
}
