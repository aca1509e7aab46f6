import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { apiServer, apiSpec } from "../../test/support/api-server.ts";
import {
  type Answerer,
  event,
  events,
  httpChild,
  json,
  remoteSpec,
  result,
} from "../../test/support/http-child.ts";
import { stdioHarness } from "../../test/support/stdio.ts";
import { temp } from "../../test/support/temp.ts";
import { until } from "../../test/support/until.ts";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { connectorContract, type Subject } from "./connector.contract.ts";
import { createHttpConnector } from "./http/connector.ts";
import { createOpenApiConnector } from "./openapi/connector.ts";

const connectorParts = { log: silentLog, clock: systemClock, maxMessageBytes: 1 << 20 };

/** Returns undefined if the request is never answered. */
function echo({ method, id, params = {} }: Parameters<Answerer>[0]["message"]): unknown {
  if (method !== "tools/call") return result(id);
  return params["name"] === "hang" ? undefined : result(id, params["arguments"]);
}

const streamable: Answerer = (seen, response) => {
  if (seen.method === "GET") events(response);
  else if (seen.message.id === undefined) response.writeHead(202).end();
  else {
    const answer = echo(seen.message);
    if (answer) json(response, answer, 200, { "mcp-session-id": "s" });
  }
};

function sse(): Answerer {
  let stream: ServerResponse | undefined;
  return (seen, response) => {
    if (seen.method === "GET") {
      stream = events(response);
      stream.write("event: endpoint\ndata: /messages?session=1\n\n");
      return;
    }
    response.writeHead(202).end("Accepted");
    const answer = seen.message.id === undefined ? undefined : echo(seen.message);
    if (answer) stream?.write(event(answer));
  };
}

async function remote(kind: "http" | "sse"): Promise<Subject> {
  const child = await httpChild(kind === "http" ? streamable : sse());
  const stopped = await httpChild(() => {});
  await stopped.stop();
  return {
    connector: createHttpConnector(connectorParts),
    spec: remoteSpec(child.url, { kind }),
    unreachable: remoteSpec(stopped.url, { kind }),
    foreign: stdioHarness([]).spec,
    kill: () => child.stop(),
    gone: async () => void (await until(async () => (await child.sockets()) === 0, { what: "no sockets" })),
  };
}

async function stdio(): Promise<Subject> {
  const fixture = fileURLToPath(new URL("../../test/fixture/child.mjs", import.meta.url));
  const { connector, spec, pids } = stdioHarness([], { args: [fixture] });
  return {
    connector,
    spec,
    unreachable: { ...spec, command: "no-such-command-anywhere" },
    foreign: remoteSpec("http://127.0.0.1:1"),
    kill: () => {
      for (const pid of pids()) process.kill(pid, "SIGKILL");
    },
    gone: async () => void (await until(() => pids().length === 0, { what: "no processes" })),
  };
}

const API = {
  openapi: "3.1.0",
  info: { title: "Echo", version: "1" },
  paths: Object.fromEntries(
    ["echo", "hang"].map((name) => [
      `/${name}`,
      {
        post: {
          operationId: name,
          requestBody: {
            content: { "application/json": { schema: { type: "object", properties: { message: {} } } } },
          },
        },
      },
    ]),
  ),
};

async function openapi(): Promise<Subject> {
  const api = await apiServer(API, ({ method, url, body }, response) => {
    if (url === "/hang") return;
    const { message } =
      method === "HEAD" ? { message: "" } : (JSON.parse(body.toString()) as { message: string });
    response.setHeader("content-type", "text/plain").end(message);
  });
  const stopped = await apiServer(API);
  await stopped.stop();
  const connector = createOpenApiConnector({ ...connectorParts, home: temp().home });
  return {
    connector,
    spec: apiSpec(`${api.url}/openapi.json`),
    unreachable: apiSpec(`${stopped.url}/openapi.json`),
    foreign: remoteSpec("http://127.0.0.1:1"),
    kill: () => api.stop(),
    gone: async () => void (await until(async () => (await api.sockets()) === 0, { what: "no sockets" })),
  };
}

connectorContract("streamable HTTP", () => remote("http"));
connectorContract("HTTP+SSE", () => remote("sse"));
connectorContract("stdio", stdio);
connectorContract("OpenAPI", openapi);
