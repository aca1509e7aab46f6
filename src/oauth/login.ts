/** One login from its beginning to kept tokens: the person is sent to the issuer and comes back to us with a code. */
import { randomBytes, randomUUID } from "node:crypto";
import type { RemoteSpec } from "../config/spec.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { addressOf } from "./authorizations.ts";
import { type Arrival, Callback } from "./callback.ts";
import { clientFor, registrationFor, withRegistration } from "./client.ts";
import {
  type Book,
  type ClientId,
  EMPTY_BOOK,
  type Grant,
  grantOf,
  soundScopes,
  union,
  using,
  withGrant,
} from "./grant.ts";
import { findPlace, type Place } from "./place.ts";
import { mayLeadTo } from "./reach.ts";
import { withTokens } from "./renew.ts";
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
    const place = await findPlace(sdk, request.spec);
    const callback = await listen(request, book, place);
    try {
      return await new Login(sdk, { request, store, book, place, callback }).run();
    } finally {
      await callback.close();
    }
  } catch (error) {
    throw new MetaMcpError(
      "auth_required",
      `The login at ${request.spec.name} failed: ${shownError(sdk, error)}.`,
    );
  }
}

/** An issuer knows us by our address: the port of a registration is taken again if it is free. */
async function listen({ port, now }: LoginRequest, book: Book, place: Place): Promise<Callback> {
  if (port !== 0) return await Callback.listen(port);
  const known = registrationFor(book, place.issuer.issuer, now());
  const before = known ? Number(new URL(known.redirectUri).port) : 0;
  return await Callback.listen(before).catch(() => Callback.listen(0));
}

interface Parts {
  readonly request: LoginRequest;
  readonly store: TokenStore;
  readonly book: Book;
  readonly place: Place;
  readonly callback: Callback;
}

/** What must be known again when the person is back. */
interface Begun {
  readonly codeVerifier: string;
  readonly clientInformation: ClientId;
  /** Without its tokens. */
  readonly grant: Grant;
}

class Login {
  readonly #sdk: Sdk;
  readonly #parts: Parts;

  constructor(sdk: Sdk, parts: Parts) {
    this.#sdk = sdk;
    this.#parts = parts;
  }

  async run(): Promise<Grant> {
    const { request, store, place, callback } = this.#parts;
    const { spec, account, now } = request;
    const scopes = this.#scopes();
    const wanted = { redirectUri: callback.address, scopes, now: now() };
    const client = await clientFor(this.#sdk, { ...this.#parts, oauth: spec.oauth }, wanted);
    const { registered } = client;
    if (registered) await store.begin((book) => withRegistration(book, registered));
    const state = randomBytes(32).toString("base64url");
    const { authorizationUrl, codeVerifier } = await this.#sdk.startAuthorization(place.server, {
      metadata: { ...place.metadata, ...place.issuer },
      clientInformation: client.id,
      redirectUrl: callback.address,
      state,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...(place.resource !== undefined && { resource: place.resource }),
    });
    const arrival = callback.arrival(state, request.clock, LIMIT_MS);
    request.send(openable(authorizationUrl, spec));
    return await this.#complete(await arrival, {
      codeVerifier,
      clientInformation: client.id,
      grant: {
        url: addressOf(spec.url),
        account,
        id: randomUUID(),
        issuer: place.issuer,
        client: client.configured ? { client_id: client.id.client_id } : client.id,
        configured: client.configured,
        resource: place.resource,
        accessToken: "",
        scopes,
        obtainedAt: now(),
      },
    });
  }

  /** What was granted before and what was missed since is asked for too: a login never narrows one. */
  #scopes(): string[] {
    const { request, book, place } = this.#parts;
    const { spec, account } = request;
    const before = grantOf(book, addressOf(spec.url), account);
    const asked = spec.oauth?.scopes ?? place.scopes;
    const scopes = soundScopes(union(asked, before?.scopes, before?.wanted));
    const lasting = place.metadata?.scopes_supported?.includes("offline_access") === true;
    return lasting && scopes.length > 0 ? union(scopes, ["offline_access"]) : scopes;
  }

  async #complete(arrival: Arrival, begun: Begun): Promise<Grant> {
    try {
      const grant = await this.#redeem(arrival, begun);
      await this.#parts.store.begin((book) => using(withGrant(book, grant), grant.url, grant.account));
      await arrival.reply("Logged in", "MetaMCP has what it needs. You can close this window.");
      return grant;
    } catch (error) {
      await arrival.reply(
        "Not logged in",
        "The login did not work; the terminal says why. You can close this window.",
      );
      throw error;
    }
  }

  async #redeem(
    { code, error, iss }: Arrival,
    { codeVerifier, clientInformation, grant }: Begun,
  ): Promise<Grant> {
    const { place, callback, request } = this.#parts;
    const { metadata } = place;
    // Before anything else of the answer is looked at: it may be the answer of another issuer.
    this.#sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.["authorization_response_iss_parameter_supported"] === true,
    });
    if (code === undefined) {
      const word = /^[\w.-]{1,60}$/.exec(error ?? "")?.[0] ?? "no reason given";
      throw new MetaMcpError("auth_required", `it was refused (${word})`);
    }
    const tokens = await this.#sdk.exchangeAuthorization(place.server, {
      metadata: { ...metadata, ...place.issuer },
      clientInformation,
      authorizationCode: code,
      codeVerifier,
      redirectUri: callback.address,
      fetchFn: place.fetch,
      ...(iss !== undefined && { iss }),
      ...(place.resource !== undefined && { resource: place.resource }),
    });
    if (tokens.token_type.toLowerCase() !== "bearer")
      throw new MetaMcpError("auth_required", "the issuer gives tokens of a kind that MetaMCP cannot show");
    return withTokens(grant, tokens, request.now());
  }
}

/** What a server names goes to the person's browser: nothing but a web address may. */
function openable(address: URL, { url }: RemoteSpec): URL {
  if (mayLeadTo(new URL(url), address)) return address;
  throw new MetaMcpError(
    "auth_required",
    "the login page it names is not reached by https, or is on this machine",
  );
}
