/** The built product on a free port, for tests over HTTP. */
import { gateway } from "./gateway.ts";
import type { Temp } from "./temp.ts";

export const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

export interface HttpGateway {
  readonly url: string;
  readonly pid: number;
  /** Its stderr so far. */
  readonly stderr: string;
  stop(): Promise<unknown>;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Opens a session and returns the headers with its id. */
  open(capabilities?: object): Promise<Record<string, string>>;
}

export async function httpGateway(folder: Temp, ...flags: string[]): Promise<HttpGateway> {
  const process = gateway(folder, {
    flags: ["--transport", "streamable", "--port", "0", "--log-level", "error", ...flags],
  });
  const found = (): string | undefined => /https?:\/\/\S+/.exec(process.stderr)?.[0];
  await process.until(() => found() !== undefined);
  const url = found() as string;
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...HEADERS, ...headers },
      body: typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", ...(body as object) }),
    });
  return {
    url,
    pid: process.pid,
    get stderr() {
      return process.stderr;
    },
    post,
    async stop() {
      process.kill("SIGTERM");
      return await process.exited;
    },
    async open(capabilities = {}) {
      const params = {
        protocolVersion: "2025-11-25",
        capabilities,
        clientInfo: { name: "test", version: "1" },
      };
      const answer = await post({ id: 0, method: "initialize", params });
      const session = { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
      await answer.text();
      await (await post({ method: "notifications/initialized" }, session)).text();
      return session;
    },
  };
}

/** The messages of an answer, which may be JSON or an event stream. */
export async function messages(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  if (response.headers.get("content-type")?.includes("json")) return [JSON.parse(text)];
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));
}
