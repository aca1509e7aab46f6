/** Tools run as tasks by clients of both eras, seen alike. */
import type { Answered, Answerer, Driver, Question } from "./eras.ts";
import { until } from "./until.ts";

type Json = Record<string, unknown>;

export const TASKS = "io.modelcontextprotocol/tasks";
export const ENDED = ["completed", "failed", "cancelled"];
/** What a client of either era declares that can be asked, and understands tasks. */
export const CAPABLE = { elicitation: {}, extensions: { [TASKS]: {} } };

export interface TaskClient {
  /** Calls a tool as a task; throws where it is none. */
  start(name: string, args: Json, more?: Json): Promise<Json>;
  get(taskId: string): Promise<Json>;
  /** The result once there is one; an error as it came. Answers questions on the way. */
  result(taskId: string, answer?: Answerer): Promise<Pick<Answered, "result" | "error">>;
  cancel(taskId: string): Promise<Answered>;
}

export function taskClient(driver: Driver, era2026: boolean): TaskClient {
  const get = async (taskId: string): Promise<Json> => {
    const { result, error } = await driver.request("tasks/get", { taskId });
    if (!result) throw new Error(JSON.stringify(error));
    return result;
  };
  return {
    get,
    async start(name, args, more = {}) {
      const wish = era2026 ? {} : { task: { ttl: 60_000 } };
      const { result, error } = await driver.request("tools/call", {
        name,
        arguments: args,
        ...wish,
        ...more,
      });
      const task = era2026 ? result?.["resultType"] === "task" && result : result?.["task"];
      if (!task) throw new Error(JSON.stringify(error ?? result));
      return task as Json;
    },
    async result(taskId, answer = () => undefined) {
      if (!era2026) return await driver.request("tasks/result", { taskId }, answer);
      const asked = new Set<string>();
      const last = await until(async () => {
        const state = await get(taskId);
        const open = Object.entries((state["inputRequests"] ?? {}) as Record<string, Question>);
        const fresh = open.filter(([name]) => !asked.has(name));
        for (const [name] of fresh) asked.add(name);
        if (fresh.length > 0) {
          const answers = fresh.map(([name, question]) => [name, answer(question)]);
          await driver.request("tasks/update", { taskId, inputResponses: Object.fromEntries(answers) });
        }
        return ENDED.includes(state["status"] as string) && state;
      });
      const { result, error } = last as Pick<Answered, "result" | "error">;
      return { ...(result && { result }), ...(error && { error }) };
    },
    cancel: (taskId) => driver.request("tasks/cancel", { taskId }),
  };
}
