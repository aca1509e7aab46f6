/**
 * The authorization server in the test process, with a real store and HTTP. A test can replace its other
 * parts.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Account } from "../../src/access/account.ts";
import { Accounts } from "../../src/access/accounts.ts";
import { ConsoleSessions } from "../../src/access/console-session.ts";
import { KeyRing } from "../../src/access/key-ring.ts";
import { Grants } from "../../src/authorization/grants.ts";
import type { AuthorizationParts } from "../../src/authorization/parts.ts";
import { fetchPublic } from "../../src/authorization/public-fetch.ts";
import { recordIds } from "../../src/authorization/record-id.ts";
import { metadataPath, resourceMetadata } from "../../src/authorization/resource.ts";
import { AuthorizationServer } from "../../src/authorization/server.ts";
import { signingKey } from "../../src/authorization/signing-key.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { useCheapPassword } from "./cheap-password.ts";
import { atEnd } from "./shared.ts";
import { sqliteDatabase } from "./test-databases.ts";

export const PASSWORD = "correct horse battery";
export const EMAIL = "ada@example.org";

export async function authorization(more: Partial<AuthorizationParts> = {}) {
  const database = sqliteDatabase();
  const store = await database.open();
  const accounts = new Accounts(store, { newId: randomUUID, adminToken: true });
  const { uuid } = await accounts.create({ email: EMAIL, role: "member" });
  await useCheapPassword(store, accounts, { uuid, password: PASSWORD });
  const ada = accounts.byId(uuid) as Account;
  const keys = new KeyRing(store, { accounts });
  const logins = new ConsoleSessions(store, accounts, { https: false });
  const idOf = recordIds(store.sealer);
  const ended: unknown[] = [];
  const grants = new Grants(store, { idOf, onRevoked: (holder) => ended.push(holder) });
  const key = signingKey((purpose) => store.sealer.derive(purpose));
  let base = "";
  const server = new AuthorizationServer({
    base: () => base,
    store,
    accounts,
    machines: keys,
    logins,
    grants,
    idOf,
    key,
    allowsOAuth: (endpoint) => endpoint !== "closed",
    mayUse: (endpoint) => ["one", "two"].includes(endpoint),
    endpointId: (endpoint) => `id of ${endpoint}`,
    registers: () => true,
    addressOf: () => "192.0.2.1",
    fetch: fetchPublic,
    log: silentLog,
    now: Date.now,
    ...more,
  });
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const endpoint = metadataPath(pathname);
    if (server.answers(pathname)) void server.answer(pathname, request, response);
    else if (endpoint) response.end(JSON.stringify(resourceMetadata(base, endpoint)));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  atEnd(() => http.close().closeAllConnections());
  base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { url: base, store, accounts, keys, ada, logins, grants, key, ended, database };
}
