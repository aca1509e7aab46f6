import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
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
import { until } from "../../test/support/until.ts";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { connectorContract, type Subject } from "./connector.contract.ts";
import { createHttpConnector } from "./http/connector.ts";

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

connectorContract("streamable HTTP", () => remote("http"));
connectorContract("HTTP+SSE", () => remote("sse"));
connectorContract("stdio", stdio);
