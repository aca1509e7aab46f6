/** Pages of apps at the endpoints of a gateway: whoever may not use a server gets none of its pages. */
import { expect, test } from "vitest";
import { appServer, PAGE, readsOf } from "../../support/app-server.ts";
import { HEADERS, messages } from "../../support/http-gateway.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";

const ADDRESS = PAGE.replace("ui://", "ui://metamcp/one/");

test("a page is read at no endpoint that has its server not, or hides it, even by its address", async () => {
  const folder = temp();
  const team = await teamGateway(folder);
  const create = async (path: string, body: object): Promise<void> => {
    expect(await team.api("POST", path, body)).toMatchObject({ status: 201 });
  };
  for (const name of ["one", "two"])
    await create("/mcp-servers", { name, ...appServer(folder, name, { tools: { show: PAGE } }) });
  const on = [{ server: "one" }, { server: "two" }];
  await create("/namespaces", { name: "both", servers: on });
  await create("/namespaces", { name: "two", servers: [{ server: "two" }] });
  await create("/namespaces", {
    name: "off",
    servers: [{ server: "one", disabled: true }, { server: "two" }],
  });
  const open = { surface: "aggregate", access: { public: true } };
  const filter = { use: "filter", deny: ["one:*"] };
  const policy = { use: "policy", rules: [{ effect: "allow", tools: ["two:*"] }] };
  await create("/endpoints", { name: "both", namespaces: ["both"], ...open });
  await create("/endpoints", { name: "two", namespaces: ["two"], ...open });
  await create("/endpoints", { name: "off", namespaces: ["off"], ...open });
  await create("/endpoints", { name: "filtered", namespaces: ["both"], ...open, middleware: [filter] });
  await create("/endpoints", { name: "denied", namespaces: ["both"], ...open, middleware: [policy] });
  const read = async (endpoint: string, uri: string): Promise<string> => {
    const request = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } };
    const body = JSON.stringify(request);
    const response = await fetch(`${team.url}/metamcp/${endpoint}/mcp`, {
      method: "POST",
      headers: HEADERS,
      body,
    });
    return JSON.stringify(await messages(response));
  };

  expect(await read("both", ADDRESS)).toContain("page of one");
  const before = readsOf(folder, "one").length;
  for (const endpoint of ["two", "off", "filtered", "denied"]) {
    expect(await read(endpoint, ADDRESS)).toContain("not found");
    expect(await read(endpoint, PAGE)).not.toContain("page of one");
  }
  expect(readsOf(folder, "one")).toHaveLength(before);
  expect(readsOf(folder, "two")).toHaveLength(4);
});
