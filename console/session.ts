/** Holds who is logged in and which actions they may take. */
import { computed, signal } from "@preact/signals";
import { ApiProblem, get, onProblem, send } from "./api/client.ts";
import type { Action, Me } from "./api/types.ts";
import { listen, reportOffline, startLive, stopLive } from "./live/events.ts";
import { clearCache } from "./live/resource.ts";
import { address, go, here } from "./navigate.ts";
import { clearUnsavedInput } from "./unsaved-input.ts";

/** "unknown" until the gateway has answered for the first time. */
type Session =
  | { readonly state: "unknown" | "logged-out" | "unreachable" }
  | { readonly state: "logged-in"; readonly me: Me };

const session = signal<Session>({ state: "unknown" });

export const sessionState = computed(() => session.value.state);
export const me = computed(() => (session.value.state === "logged-in" ? session.value.me : undefined));

export function may(action: Action): boolean {
  return me.value?.actions.includes(action) ?? false;
}

/**
 * Asks the gateway who is logged in, which also loads a changed role. Goes to the login page if nobody is.
 */
export async function checkLogin(): Promise<void> {
  try {
    const { me: account } = await get("/login");
    if (account) startSession(account);
    else goToLogin();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (session.peek().state !== "logged-in") session.value = { state: "unreachable" };
  }
}

let lastAccount: string | undefined;

/** Called after a login. Input of another account is deleted. */
export function startSession(account: Me): void {
  const uuid = account.account?.uuid;
  if (lastAccount !== undefined && lastAccount !== uuid) clearUnsavedInput();
  lastAccount = uuid;
  session.value = { state: "logged-in", me: account };
  startLive();
}

export async function logOut(): Promise<void> {
  const answer: { readonly url: string } | undefined = await send("POST /logout", undefined);
  clearUnsavedInput();
  endSession();
  // Also ends the session at the identity provider. Otherwise the next click on its button would log in
  // again.
  if (answer?.url) location.assign(answer.url);
  else go({ page: "login" });
}

function endSession(): void {
  stopLive();
  const wasLoggedIn = session.peek().state === "logged-in";
  session.value = { state: "logged-out" };
  // Otherwise the cache holds only data of the pages before the login, which may be loading.
  if (wasLoggedIn) clearCache();
}

/** Goes to the login page, which returns to the current address afterwards. */
export function goToLogin(): void {
  endSession();
  const { page } = address.peek();
  if (page !== "login" && page !== "setup" && page !== "invitations")
    go({ page: "login", query: { to: here() === "/" ? undefined : here() } }, { replace: true });
}

onProblem(({ status }) => {
  if (status === 0) reportOffline();
  if (status === 401 && session.peek().state === "logged-in") goToLogin();
});

listen((event) => {
  // An administrator may have given this account another role.
  if (event.type === "missed" || (event.type === "changed" && event.of === "users")) void checkLogin();
});
