/** One login from its beginning to kept tokens, at the machine of the person: they are sent to the issuer and come back to us with a code. */
import type { RemoteSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Arrival, Callback } from "./callback.ts";
import { registrationFor, withRegistration } from "./client.ts";
import { type BegunLogin, finishLogin, startLogin } from "./code-flow.ts";
import { type Book, EMPTY_BOOK, type Grant, using, withGrant } from "./grant.ts";
import { findLoginTarget, type LoginTarget } from "./login-target.ts";
import { loadSdk, type Sdk, shownError } from "./sdk.ts";
import { TokenStore } from "./store.ts";

/** How long a person may take. */
const LIMIT_MS = 600_000;

export interface LoginRequest {
  readonly spec: RemoteSpec;
  readonly home: string;
  readonly account: string;
  /** Where the browser comes back to; 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  /** The time of day. */
  readonly now: () => number;
  /** The person has to go there. */
  send(address: URL): void;
}

/** Rejects with MetaMcpError. */
export async function logIn(request: LoginRequest): Promise<Grant> {
  const sdk = await loadSdk();
  try {
    const store = new TokenStore(request.home, request.spec.name);
    const book = await store.read().catch(() => EMPTY_BOOK);
    const place = await findLoginTarget(sdk, request.spec);
    const callback = await listen(request, book, place);
    try {
      return await run(sdk, { request, store, book, place, callback });
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

/** An issuer knows us by our address: the port of a registration is taken again if it is free. */
async function listen({ port, now }: LoginRequest, book: Book, place: LoginTarget): Promise<Callback> {
  if (port !== 0) return await Callback.listen(port);
  const known = registrationFor(book, place.issuer.issuer, now());
  const before = known ? Number(new URL(known.redirectUri).port) : 0;
  return await Callback.listen(before).catch(() => Callback.listen(0));
}

interface Parts {
  readonly request: LoginRequest;
  readonly store: TokenStore;
  readonly book: Book;
  readonly place: LoginTarget;
  readonly callback: Callback;
}

async function run(sdk: Sdk, { request, store, book, place, callback }: Parts): Promise<Grant> {
  const { spec, account, now } = request;
  const wish = { spec, account, place, book, redirectUri: callback.address, now: now() };
  const { address, begun, registered } = await startLogin(sdk, wish);
  if (registered) await store.begin((before) => withRegistration(before, registered));
  const arrival = callback.arrival(begun.state, request.clock, LIMIT_MS);
  request.send(address);
  return await complete(sdk, { request, store, begun }, await arrival);
}

async function complete(
  sdk: Sdk,
  { request, store, begun }: Pick<Parts, "request" | "store"> & { readonly begun: BegunLogin },
  arrival: Arrival,
): Promise<Grant> {
  try {
    const grant = await finishLogin(sdk, { spec: request.spec, begun, now: request.now() }, arrival);
    await store.begin((book) => using(withGrant(book, grant), grant.url, grant.account));
    await arrival.reply("Logged in", "MetaMCP is logged in. You can close this window.");
    return grant;
  } catch (error) {
    await arrival.reply(
      "Not logged in",
      "The login failed; see the terminal for the reason. You can close this window.",
    );
    throw error;
  }
}
