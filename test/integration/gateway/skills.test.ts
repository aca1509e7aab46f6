/** Skills at the endpoints of a gateway: namespaces switch them, and layers and the audit log see them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HEADERS, messages } from "../../support/http-gateway.ts";
import { shared } from "../../support/shared.ts";
import { oneSkill, type SkillEntry, skillServer, skillText } from "../../support/skills.ts";
import { teamGateway } from "../../support/team-gateway.ts";
import { temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const OWN = "skill://skills/refunds/SKILL.md";
const SHOP = "skill://shop/refunds/SKILL.md";

const team = shared(async () => {
  const folder = temp();
  mkdirSync(folder.path("skills/refunds"), { recursive: true });
  writeFileSync(folder.path("skills/refunds/SKILL.md"), skillText("refunds", "Ask anna@example.org first"));
  const gateway = await teamGateway(folder, { flags: ["--skills-dir", folder.path("skills")] });
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await gateway.api("POST", path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.uuid;
  };
  const shop = await post("/mcp-servers", {
    name: "shop",
    ...skillServer(folder, "shop", oneSkill("skill://refunds/SKILL.md", "Shop")),
  });
  const both = [{ server: "skills" }, { server: shop }];
  await post("/namespaces", { name: "both", servers: both });
  await post("/namespaces", {
    name: "without",
    servers: [{ server: "skills", disabled: true }, { server: shop }],
  });
  const open = { surface: "aggregate", access: { public: true } };
  await post("/endpoints", { name: "both", namespaces: ["both"], ...open });
  await post("/endpoints", { name: "without", namespaces: ["without"], ...open });
  await post("/endpoints", {
    name: "masked",
    namespaces: ["both"],
    ...open,
    middleware: [{ use: "redact", detect: ["email"] }],
  });
  await post("/endpoints", {
    name: "denied",
    namespaces: ["both"],
    ...open,
    middleware: [{ use: "filter", deny: ["shop:*"] }],
  });
  return { ...gateway, post };
});

let id = 0;

/** Asks as a client without a session. */
async function ask(endpoint: string, method: string, params: object = {}) {
  const response = await fetch(`${team().url}/metamcp/${endpoint}/mcp`, {
    method: "POST",
    headers: {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...("uri" in params && method === "resources/read" && { "mcp-name": String(params.uri) }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++id,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  return (await messages(response)).find((message) => "result" in message || "error" in message) as any;
}

const urisAt = async (endpoint: string): Promise<string[]> =>
  ((await ask(endpoint, "skills/list")).result.skills as SkillEntry[]).map(({ uri }) => uri);

test("--skills-dir makes one server, which namespaces switch on and off", async () => {
  const { body } = await team().api("GET", "/mcp-servers");
  expect(body.items.filter(({ name }: { name: string }) => name === "skills")).toMatchObject([
    { command: "metamcp", args: ["skills"] },
  ]);
  expect(await urisAt("both")).toEqual([OWN, SHOP]);
  expect(await urisAt("without")).toEqual([SHOP]);
  expect((await ask("without", "resources/read", { uri: OWN })).error.code).toBe(-32602);
  expect((await ask("without", "skills/get", { uri: OWN })).error.code).toBe(-32602);
});

test("the folders are those of the operator alone", async () => {
  const { status, body } = await team().api("POST", "/mcp-servers", {
    name: "else",
    command: "metamcp",
    args: ["skills", "/etc"],
  });
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain("--skills-dir");
});

test("layers see the files, and what hides a server hides its skills", async () => {
  const plain = await ask("both", "resources/read", { uri: OWN });
  expect(plain.result.contents[0].text).toContain("anna@example.org");
  const masked = await ask("masked", "resources/read", { uri: OWN });
  expect(masked.result.contents[0].text).not.toContain("anna@example.org");
  expect(await urisAt("denied")).toEqual([OWN]);
  expect((await ask("denied", "resources/read", { uri: SHOP })).error.code).toBe(-32602);
});

test("reads and entries are in the audit log, with the server and its own address", async () => {
  await ask("both", "skills/get", { uri: SHOP });
  await ask("both", "resources/read", { uri: SHOP });
  const found = await until(
    async () => {
      const { body } = await team().api("GET", "/calls?server=shop");
      const methods = (body.items as { method?: string; tool: string; outcome: string }[])
        .filter(({ tool }) => tool === "skill://refunds/SKILL.md")
        .map(({ method, outcome }) => `${method} ${outcome}`);
      return methods.includes("skills/get ok") && methods.includes("resources/read ok") && methods;
    },
    { what: "both records" },
  );
  expect(found).toContain("skills/get ok");
});
