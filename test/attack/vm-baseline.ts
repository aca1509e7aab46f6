/**
 * Runs code in `node:vm` with objects of the host: an insecure code mode. Only tests use it, to show that an
 * attack works where there is no sandbox.
 */
import { createContext, runInContext, Script } from "node:vm";
import { asFunction } from "../../src/sandbox/host/completion.ts";

export async function runInVm(code: string): Promise<string> {
  const call = (): Promise<object> => Promise.resolve({ content: [] });
  const server = { echo: call, fail: () => Promise.reject(new Error("failed")), call };
  const context = createContext({
    console: { log: () => {} },
    tools: { a: server },
    servers: { a: server },
    search: call,
    describe: call,
    sleep: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
    progress: () => {},
    setTimeout,
    clearTimeout,
    URL,
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    structuredClone,
  });
  const compiles = (script: string): boolean => {
    try {
      new Script(script);
      return true;
    } catch {
      return false;
    }
  };
  return String(await runInContext(asFunction(code, compiles) ?? "", context));
}
