/** An HTTP API that wants tokens: MetaMCP gets them as at any remote server. */
import { expect, test } from "vitest";
import { apiServer } from "../../support/api-server.ts";
import { gateway } from "../../support/gateway.ts";
import { textOf } from "../../support/meta.ts";
import { temp } from "../../support/temp.ts";

const API = {
  openapi: "3.1.0",
  info: { title: "Test", version: "1" },
  paths: { "/object": { get: { operationId: "object", responses: { 200: { description: "it" } } } } },
};

test("an API gets a token of its authorization server, and one that is refused is replaced", async () => {
  let tokens = 0;
  const grants: string[] = [];
  const api = await apiServer(API, ({ url, headers, body }, response) => {
    const base = `http://${headers.host}`;
    const answers: Readonly<Record<string, () => object>> = {
      "/.well-known/oauth-protected-resource": () => ({ resource: base, authorization_servers: [base] }),
      "/.well-known/oauth-authorization-server": () => ({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      }),
      "/token": () => {
        grants.push(String(new URLSearchParams(body.toString()).get("grant_type")));
        return { access_token: `token-of-the-api-${++tokens}`, token_type: "Bearer", expires_in: 3_600 };
      },
    };
    response.setHeader("content-type", "application/json");
    const known = answers[url];
    if (known) response.end(JSON.stringify(known()));
    else if (tokens > 0 && headers.authorization === `Bearer token-of-the-api-${tokens}`)
      response.end('{"id":7}');
    else {
      const metadata = `${base}/.well-known/oauth-protected-resource`;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end("{}");
    }
  });
  const folder = temp();
  const oauth = { grant: "client_credentials", clientId: "a", clientSecret: "secret-of-a" };
  folder.writeConfig({ api: { openapi: `${api.url}/openapi.json`, oauth } });
  const client = gateway(folder);
  await client.initialize();
  expect(textOf(await client.mcpCall("api", "object", {}))).toContain('"id":7');
  tokens++;
  expect(textOf(await client.mcpCall("api", "object", {}))).toContain('"id":7');
  expect(grants).toEqual(["client_credentials", "client_credentials"]);
  for (const secret of ["token-of-the-api", "secret-of-a"]) expect(client.stderr).not.toContain(secret);
});
