/** The meta surface: four own tools that find and call all others, so that the tool list stays small. */
import { knowsApps } from "../../catalog/tool-app.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { forModels } from "../app-tools.ts";
import { hasBuiltin, READ } from "../builtin/tools.ts";
import { refuseCursor } from "../cursor.ts";
import { emitListed } from "../emit-listed.ts";
import { appsExtension } from "../extensions.ts";
import { type SurfaceKind, type SurfaceOptions, shared } from "../kind.ts";
import { passOn } from "../pass-through.ts";
import { PinnedTools } from "../pinned/pinned-tools.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, Surface } from "../surface.ts";
import { TASK_CAPABILITY } from "../task/legacy-form.ts";
import { TaskRequests } from "../task/task-requests.ts";
import { CALL, EXECUTE, instructions, isOffered, META_TOOL_DEFINITIONS, PROVISION } from "./tools.ts";

export const meta: SurfaceKind = {
  name: "meta",
  open: (scope, options) => shared(createMetaSurface(scope, options), options),
};

/** `notify`: clients get list_changed notifications, for the pinned tools. */
export function createMetaSurface(all: Scope, { notify }: Pick<SurfaceOptions, "notify">): Surface {
  const scope = forModels(all);
  const pinned = new PinnedTools(all);
  const tools = toRaw({ tools: META_TOOL_DEFINITIONS.filter((tool) => isOffered(tool, scope)) });
  const { tasks, clock, cursors } = scope;
  const taskRequests = new TaskRequests({
    tasks,
    clock,
    cursors,
    supportOf: (name, asker) => (name === CALL.name ? "optional" : pinned.taskSupport(name, asker)),
  });
  const list = (request: ClientRequest): Promise<Raw> => {
    if (pinned.any)
      return pinned.list(request, tools).then((whole) => {
        emitListed(scope, request, whole);
        return whole;
      });
    refuseCursor(request.params);
    request.listing?.("tools")(pinned.state(request.origin).version);
    emitListed(scope, request, tools);
    return Promise.resolve(tools);
  };
  const handle = (request: ClientRequest): Promise<Raw> =>
    request.method === "tools/list" ? list(request) : answered(scope, request, { all, pinned });
  return {
    // The only resources on this surface are stored results.
    capabilities: {
      tools: notify ? { listChanged: true } : {},
      resources: {},
      logging: {},
      tasks: TASK_CAPABILITY,
    },
    prepare: async (origin) => {
      if (knowsApps(origin.capabilities)) await scope.view(origin).loadCached();
      await pinned.prepare(origin);
    },
    extensions: (origin) => appsExtension(scope, origin),
    instructions: (asker) =>
      instructions(
        scope.servers(asker).map((server) => server.name),
        {
          code: scope.code !== undefined && hasBuiltin(scope, EXECUTE.name, asker),
          provision: scope.provision !== undefined && hasBuiltin(scope, PROVISION.name, asker),
          read: hasBuiltin(scope, READ.name, asker),
        },
      ),
    handle: (request) => taskRequests.answer(request, handle) ?? handle(request),
    tool: (name, asker) => pinned.tool(name, asker),
    lists: (asker) => ({ tools: pinned.state(asker) }),
    loadMissing: (origin) => pinned.loadMissing(origin),
    notified: (method, params, origin) => passOn(scope, method, params, origin),
  };
}

type Answer = typeof import("./run.ts").answer;
let loaded: Answer | undefined;

/** What runs tools is loaded once. Later requests do not wait for a promise. */
function answered(...asked: Parameters<Answer>): Promise<Raw> {
  return loaded ? loaded(...asked) : loadAnswer().then((answer) => answer(...asked));
}

async function loadAnswer(): Promise<Answer> {
  ({ answer: loaded } = await import("./run.ts"));
  return loaded;
}
