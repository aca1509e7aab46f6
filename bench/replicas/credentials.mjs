// Credentials for the clients of a run: a key for all endpoints, and an OAuth token for each.
import { load } from "../gateway/source.mjs";
import { SURFACES } from "./team.mjs";

const PASSWORD = "correct horse battery staple";
let users = 0;

/** Returns the headers of a client: with a key, or with a token for the endpoint of this surface. */
export async function credentials(team) {
  const [first] = team.members;
  const key = await first.key();
  const email = `ada-${++users}@example.org`;
  const { invitation } = await first.api("POST", "/users", { email, role: "member" });
  const code = new URL(invitation.url).pathname.split("/").at(-1);
  await first.api("POST", `/invitations/${code}`, { password: PASSWORD });
  const { OAuthClient } = await load("../test/support/oauth-client.ts");
  const tokens = new Map();
  for (const surface of SURFACES) {
    const client = new OAuthClient(team.balancer.url, { endpoint: surface });
    await client.register();
    const page = await client.logIn({ email, password: PASSWORD });
    const { body } = await client.exchange(page.url.searchParams.get("code") ?? "");
    if (!body.access_token) throw new Error(`no token: ${page.text.slice(0, 300)} ${JSON.stringify(body)}`);
    tokens.set(surface, { authorization: `Bearer ${body.access_token}` });
  }
  return (n, surface) => (n % 2 === 0 ? key : tokens.get(surface));
}
