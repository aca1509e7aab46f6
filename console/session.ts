/** Who is logged in, and what they may do: what they may not do is not shown. */
import { computed, signal } from "@preact/signals";
import { ApiProblem, get, onProblem, send } from "./api/client.ts";
import type { Action, Me } from "./api/types.ts";
import { forgetTyped } from "./kept.ts";
import { listen, noticeOffline, startLive, stopLive } from "./live/events.ts";
import { forgetAll } from "./live/resource.ts";
import { address, go, here } from "./navigate.ts";

/** "unknown" until the gateway has answered once. */
type Session =
  | { readonly state: "unknown" | "stranger" | "unreachable" }
  | { readonly state: "known"; readonly me: Me };

const session = signal<Session>({ state: "unknown" });

export const sessionState = computed(() => session.value.state);
export const me = computed(() => (session.value.state === "known" ? session.value.me : undefined));

export function may(action: Action): boolean {
  return me.value?.actions.includes(action) ?? false;
}

/** Asks the gateway who this is, and leads whoever it does not know to the login. A role that changed is seen by it. */
export async function recognize(): Promise<void> {
  try {
    const { me: known } = await get("/login");
    if (known) enter(known);
    else leadToLogin();
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (session.peek().state !== "known") session.value = { state: "unreachable" };
  }
}

let lastAccount: string | undefined;

/** Somebody has just logged in. */
export function enter(known: Me): void {
  const account = known.account?.uuid;
  if (lastAccount !== undefined && lastAccount !== account) forgetTyped();
  lastAccount = account;
  session.value = { state: "known", me: known };
  startLive();
}

export async function logOut(): Promise<void> {
  await send("POST /logout", undefined);
  forgetTyped();
  leave();
  go({ page: "login" });
}

function leave(): void {
  stopLive();
  const known = session.peek().state === "known";
  session.value = { state: "stranger" };
  // A page before the login may be reading something already.
  if (known) forgetAll();
}

/** A login that ended leads back to where it was. */
export function leadToLogin(): void {
  leave();
  const { page } = address.peek();
  if (page !== "login" && page !== "setup" && page !== "invitations")
    go({ page: "login", query: { to: here() === "/" ? undefined : here() } }, { replace: true });
}

onProblem(({ status }) => {
  if (status === 0) noticeOffline();
  if (status === 401 && session.peek().state === "known") leadToLogin();
});

listen((event) => {
  // An administrator may have given this account another role.
  if (event.type === "missed" || (event.type === "changed" && event.of === "users")) void recognize();
});
