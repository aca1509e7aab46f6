/**
 * Runs a login on the user's machine: opens the issuer's page, waits for the redirect with the code, and
 * stores the tokens.
 */
import type { RemoteSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { Callback, type CallbackAnswer } from "./callback.ts";
import { registrationFor, withRegistration } from "./client.ts";
import { type BegunLogin, finishLogin, startLogin } from "./code-flow.ts";
import { EMPTY_LOGIN_DATA, type Grant, type LoginData, useAccount, withGrant } from "./grant.ts";
import { findLoginTarget, type LoginTarget } from "./login-target.ts";
import { loadSdk, type Sdk, shownError } from "./sdk.ts";
import { TokenStore } from "./store.ts";

/** How long the user may take. */
const LIMIT_MS = 600_000;

export interface LoginRequest {
  readonly spec: RemoteSpec;
  readonly home: string;
  readonly account: string;
  /** The port of the redirect address; 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  /** The wall clock. */
  readonly now: () => number;
  /** Called with the address that the user must open. */
  send(address: URL): void;
}

/** Rejects with MetaMcpError. */
export async function logIn(request: LoginRequest): Promise<Grant> {
  const sdk = await loadSdk();
  try {
    const store = new TokenStore(request.home, request.spec.name);
    const loginData = await store.read().catch(() => EMPTY_LOGIN_DATA);
    const target = await findLoginTarget(sdk, request.spec);
    const callback = await listen(request, loginData, target);
    try {
      return await run(sdk, { request, store, loginData, target, callback });
    } finally {
      await callback.close();
    }
  } catch (error) {
    throw new MetaMcpError(
      "auth_required",
      `The login to ${request.spec.name} failed: ${shownError(sdk, error)}.`,
    );
  }
}

/** A registration is bound to its redirect address, so its port is used again if it is free. */
async function listen(
  { port, now }: LoginRequest,
  loginData: LoginData,
  target: LoginTarget,
): Promise<Callback> {
  if (port !== 0) return await Callback.listen(port);
  const known = registrationFor(loginData, target.issuer.issuer, now());
  const before = known ? Number(new URL(known.redirectUri).port) : 0;
  return await Callback.listen(before).catch(() => Callback.listen(0));
}

interface LoginParts {
  readonly request: LoginRequest;
  readonly store: TokenStore;
  readonly loginData: LoginData;
  readonly target: LoginTarget;
  readonly callback: Callback;
}

async function run(sdk: Sdk, { request, store, loginData, target, callback }: LoginParts): Promise<Grant> {
  const { spec, account, now } = request;
  const options = { spec, account, target, loginData, redirectUri: callback.address, now: now() };
  const { address, begun, registered } = await startLogin(sdk, options);
  if (registered) await store.begin((before) => withRegistration(before, registered));
  const answer = callback.waitForAnswer(begun.state, request.clock, LIMIT_MS);
  request.send(address);
  return await complete(sdk, { request, store, begun }, await answer);
}

async function complete(
  sdk: Sdk,
  { request, store, begun }: Pick<LoginParts, "request" | "store"> & { readonly begun: BegunLogin },
  answer: CallbackAnswer,
): Promise<Grant> {
  try {
    const grant = await finishLogin(sdk, { spec: request.spec, begun, now: request.now() }, answer);
    await store.begin((loginData) => useAccount(withGrant(loginData, grant), grant.url, grant.account));
    await answer.reply("Logged in", "MetaMCP is logged in. You can close this window.");
    return grant;
  } catch (error) {
    await answer.reply(
      "Not logged in",
      "The login failed; see the terminal for the reason. You can close this window.",
    );
    throw error;
  }
}
