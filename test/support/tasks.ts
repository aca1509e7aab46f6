/** One interface for tasks of clients of both eras. */
import type { Answerer, Driver, Question, RequestResult } from "./eras.ts";
import { until } from "./until.ts";

type Json = Record<string, unknown>;

export const TASKS = "io.modelcontextprotocol/tasks";
export const ENDED = ["completed", "failed", "cancelled"];
/** Capabilities of a client of either era that supports elicitation and tasks. */
export const CAPABLE = { elicitation: {}, extensions: { [TASKS]: {} } };

export interface TaskClient {
  /** Calls a tool as a task. Throws if the answer is not a task. */
  start(name: string, args: Json, more?: Json): Promise<Json>;
  get(taskId: string): Promise<Json>;
  /** Waits for the result or error, and answers questions on the way. */
  result(taskId: string, answer?: Answerer): Promise<Pick<RequestResult, "result" | "error">>;
  cancel(taskId: string): Promise<RequestResult>;
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
      const taskParams = era2026 ? {} : { task: { ttl: 60_000 } };
      const { result, error } = await driver.request("tools/call", {
        name,
        arguments: args,
        ...taskParams,
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
      const { result, error } = last as Pick<RequestResult, "result" | "error">;
      return { ...(result && { result }), ...(error && { error }) };
    },
    cancel: (taskId) => driver.request("tasks/cancel", { taskId }),
  };
}
