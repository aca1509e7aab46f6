// Extends MetaMCP with a server in this process, a layer around every call, a search strategy and a
// transport. Run with: node examples/extending.mjs
import { createMetaMcp, fromRaw, toRaw, writeMessage } from "metamcp";
import { createFirstLetters } from "./first-letters.mjs";

// A connector opens the connection to a server. This one answers all messages in this process.
const TOOLS = [
  {
    name: "double",
    description: "Doubles a number",
    inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  },
];
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "numbers", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ arguments: { n } }) => ({ content: [{ type: "text", text: String(2 * n) }] }),
  ping: () => ({}),
};
const numbers = {
  open: async (_spec, events) => ({
    peer: "in process",
    send({ kind, id, method, params }) {
      if (kind !== "request") return;
      const result = toRaw(ANSWERS[method](params && fromRaw(params)));
      queueMicrotask(() => events.onMessage({ kind: "result", id, result }));
    },
    agreed() {},
    lastWords: () => undefined,
    close: async () => {},
  }),
};

// A layer sees every call to a server and its unparsed result.
const timed = (next) => async (call) => {
  const result = await next(call);
  console.log(`${call.server} ${call.method}: ${result.length} bytes`);
  return result;
};

const metamcp = await createMetaMcp({
  config: { mcpServers: {} },
  connectors: { numbers },
  middleware: [timed],
  // A search strategy ranks the tools of all servers.
  search: createFirstLetters(),
});
const { content } = await metamcp.call("numbers", "double", { n: 21 });
console.log(content[0].text);
const { tools } = await metamcp.discover("do it twice");
console.log(tools.map(({ server, tool }) => `${server}:${tool}`).join());

// A transport connects clients. This one has a single client, which only sends `initialize`.
await metamcp.serve({
  name: "example",
  info: "one client, in process",
  async serve(host) {
    const answer = await new Promise((resolve) => {
      const me = { id: "me", kind: "local", roles: [], groups: [] };
      const session = host.open((message) => resolve(message), me);
      session.receive({
        kind: "request",
        id: toRaw(1),
        method: "initialize",
        params: toRaw({
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "me", version: "1" },
        }),
      });
    });
    console.log(JSON.parse(writeMessage(answer)).result.serverInfo.name);
  },
  stop: async () => {},
  close: async () => {},
});
await metamcp.close();
