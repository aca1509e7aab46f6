/**
 * The scenarios of the official suite for authorization servers, with the gateway as the server. A client
 * registers first, and a user logs in.
 */
import { describe, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";
import { INSTALL_MS } from "../support/install.ts";
import { OAuthClient } from "../support/oauth-client.ts";
import { ADA, oauthTeam } from "../support/oauth-team.ts";
import { shared } from "../support/shared.ts";
import { loadSuite, obstacle } from "./suite.ts";

describe.skipIf(obstacle)(
  `the official suite finds no fault with the authorization server${obstacle ? ` (${obstacle})` : ""}`,
  () => {
    const suite = shared(loadSuite, INSTALL_MS);

    test.each(["2025-11-25", "2026-07-28"] as const)(
      "in revision %s",
      { timeout: 120_000 },
      async (revision) => {
        const team = await oauthTeam();
        const port = await freePort();
        const client = new OAuthClient(team.url, { redirectUri: `http://127.0.0.1:${port}/callback` });
        expect((await client.register()).status).toBe(201);
        const report = await suite().authorization(
          { issuer: team.url, clientId: client.id, resource: client.resource, port, revision },
          async (address) => {
            const browser = new Browser();
            const consent = await browser.submit(await browser.open(address), ADA);
            const back = await browser.submit(consent, { action: "allow" });
            await fetch(back.url);
          },
        );
        expect(Object.fromEntries(report)).toEqual({
          "authorization-server-metadata-endpoint": [
            "SUCCESS AuthorizationServerMetadata",
            "SUCCESS AuthorizationServerMetadataCIMD",
          ],
          "authorization-code-grant": ["SUCCESS AuthorizationCodeGrant"],
        });
      },
    );
  },
);
