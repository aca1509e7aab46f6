/** Switches tools in a namespace, in one revision, with a way back. */
import { ApiProblem, send } from "../../api/client.ts";
import type { TableTool } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { refresh } from "../../live/resource.ts";
import { toolsTexts } from "../../texts/tools.ts";
import type { Place } from "./place.ts";

const texts = toolsTexts.bulk;

export async function switchTools(place: Place, tools: readonly TableTool[], on: boolean): Promise<void> {
  const set = tools.map(({ server, tool }) => ({ server, tool, disabled: !on }));
  try {
    await send("POST /namespaces/:uuid/tools", { set }, { params: { uuid: place.uuid } });
    toast({ text: texts.done(tools.length, on), undo: () => void switchTools(place, tools, !on) });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    toast({ text: error.message, kind: "failed" });
  }
  refresh("/tools");
}
