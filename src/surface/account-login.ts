/**
 * Asks the person at a client to log in at a server if a call needs it, and repeats the call after the login.
 */
import { createHash, randomUUID } from "node:crypto";
import { MetaMcpError } from "../kernel/errors.ts";
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { undeclaredFor } from "../rpc/era-2026/capability.ts";
import { members } from "../rpc/slice.ts";
import type { AccountLogin, ScopeCalls } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

const ASK = "elicitation/create";
/** Longest wait for a login. */
const LOGIN_TIMEOUT_MS = 600_000;
/** Progress is sent this often, because clients time out calls without progress. */
const PROGRESS_MS = 10_000;

/** The part of a scope that a login needs. */
export type Logins = Pick<ScopeCalls, "login" | "clock">;

type LoginRequest = Pick<ClientRequest, "origin" | "uplink" | "signal" | "params">;

/**
 * Runs `run`, and once more after a login if it failed for lack of one. Repeating is safe: a call refused for
 * lack of a login had no effect.
 */
export async function afterLogin<T>(scope: Logins, request: LoginRequest, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const login = neededLogin(scope, request, error);
    if (!login || !(await waitForLogin(scope, request, login))) throw error;
    return await run();
  }
}

interface NeededLogin {
  readonly server: string;
  readonly login: AccountLogin;
  readonly question: Raw;
  readonly id: string;
}

/** Returns undefined if the error needs no login, or the client cannot be asked to open a page. */
function neededLogin(scope: Logins, { origin }: LoginRequest, error: unknown): NeededLogin | undefined {
  if (!MetaMcpError.is(error) || error.code !== "auth_required") return undefined;
  const { server, details } = error.context;
  // Without a login URL the person cannot log in.
  if (server === undefined || !isRecord(details) || typeof details["login"] !== "string") return undefined;
  const login = scope.login?.(server, origin);
  if (!login) return undefined;
  const id = randomUUID();
  const message = `${server} requires your login. Open this page to log in; then the call continues.`;
  const question = toRaw({ mode: "url", message, url: login.url, elicitationId: id });
  return undeclaredFor(origin.capabilities, ASK, question) ? undefined : { server, login, question, id };
}

/** Returns false if the person declined or did not log in in time. Rejects when the call is cancelled. */
async function waitForLogin(scope: Logins, request: LoginRequest, needed: NeededLogin): Promise<boolean> {
  const { signal, uplink } = request;
  const ended = new CallSignal();
  const giveUp = (): void => ended.abort(new Error("nobody is waiting for the login"));
  const timer = scope.clock.after(LOGIN_TIMEOUT_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  const stop = startProgress(scope, request, needed.server);
  // Started before the question, because the login may finish before the client answers.
  const done = needed.login.done(ended).then(
    () => true,
    () => false,
  );
  const refused = uplink
    .request(ASK, needed.question, ended, { name: nameOf(needed.login) })
    .then((answer) => (fromRaw(answer) as { action?: unknown } | null)?.action === "accept")
    .catch(() => false)
    .then((accepted) => (accepted ? done : false));
  try {
    const loggedIn = await Promise.race([done, refused]);
    if (signal.aborted) throw signal.reason;
    // Meant for legacy clients. A stateless client does not get it; it has already retried its request.
    if (loggedIn) uplink.notify("notifications/elicitation/complete", toRaw({ elicitationId: needed.id }));
    return loggedIn;
  } finally {
    timer.cancel();
    stop();
    signal.removeEventListener("abort", giveUp);
    giveUp();
  }
}

/** The name depends on the URL, so that an answer sent in advance applies only to this page. */
function nameOf({ url }: AccountLogin): string {
  return `login-${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
}

/**
 * Sends progress in steps of 1/1000, so that the server's own progress is still larger. Returns a function
 * that stops it.
 */
function startProgress(scope: Logins, { params, uplink }: LoginRequest, server: string): () => void {
  const [meta] = params ? members(params, ["_meta"]) : [];
  const [token] = meta ? members(meta, ["progressToken"]) : [];
  if (!token) return () => {};
  const progressToken = scalarOf(token);
  let steps = 0;
  let timer = scope.clock.after(PROGRESS_MS, send);
  function send(): void {
    steps += 1;
    const message = `Waiting for the login at ${server}`;
    uplink.notify("notifications/progress", toRaw({ progressToken, progress: steps / 1_000, message }));
    timer = scope.clock.after(PROGRESS_MS, send);
  }
  return () => timer.cancel();
}
