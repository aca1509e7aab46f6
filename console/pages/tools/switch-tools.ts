/** Turns tools on or off in a namespace, in one revision, and shows a toast with an undo button. */
import { ApiProblem, send } from "../../api/client.ts";
import type { TableTool } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { toolsTexts } from "../../texts/tools.ts";
import type { NamespaceColumn } from "./namespace-column.ts";

const texts = toolsTexts.bulk;

export async function switchTools(
  namespace: NamespaceColumn,
  tools: readonly TableTool[],
  on: boolean,
): Promise<void> {
  const set = tools.map(({ server, tool }) => ({ server, tool, disabled: !on }));
  try {
    await send("POST /namespaces/:uuid/tools", { set }, { params: { uuid: namespace.uuid } });
    toast({ text: texts.done(tools.length, on), undo: () => void switchTools(namespace, tools, !on) });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ text: error.message, kind: "failed" });
  }
  refresh("/tools");
}
