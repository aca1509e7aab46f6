/** Sends the person at a client to log in at a server, where a call of theirs needs that, and lets the call go on after it. */
import { createHash, randomUUID } from "node:crypto";
import { MetaMcpError } from "../kernel/errors.ts";
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { undeclaredFor } from "../rpc/era-2026/capability.ts";
import { members } from "../rpc/slice.ts";
import type { OwnLogin, Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

const ASK = "elicitation/create";
/** Nobody is waited for longer than this. */
const PATIENCE_MS = 600_000;
/** Clients give up on what is silent. */
const SIGN_OF_LIFE_MS = 10_000;

type Asking = Pick<ClientRequest, "origin" | "uplink" | "signal" | "params">;

/** `run` is begun at once, and once more after a login: what was refused for want of one had no effect. */
export async function afterLogin<T>(scope: Scope, request: Asking, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const wanted = loginFor(scope, request, error);
    if (!wanted || !(await loggedIn(scope, request, wanted))) throw error;
    return await run();
  }
}

interface Wanted {
  readonly server: string;
  readonly login: OwnLogin;
  readonly question: Raw;
  readonly id: string;
}

function loginFor(scope: Scope, { origin }: Asking, error: unknown): Wanted | undefined {
  if (!MetaMcpError.is(error) || error.code !== "auth_required") return undefined;
  const { server, details } = error.context;
  // Without an address nothing can be done about it.
  if (server === undefined || !isRecord(details) || typeof details["login"] !== "string") return undefined;
  const login = scope.login?.(server, origin);
  if (!login) return undefined;
  const id = randomUUID();
  const message = `${server} requires your login. Open this page to log in; then the call continues.`;
  const question = toRaw({ mode: "url", message, url: login.url, elicitationId: id });
  return undeclaredFor(origin.capabilities, ASK, question) ? undefined : { server, login, question, id };
}

/** False where they said no, or nothing for too long. Rejects when the call is given up. */
async function loggedIn(scope: Scope, request: Asking, wanted: Wanted): Promise<boolean> {
  const { signal, uplink } = request;
  const over = new CallSignal();
  const giveUp = (): void => over.abort(new Error("nobody is waiting for the login"));
  const timer = scope.clock.after(PATIENCE_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  const stop = showsLife(scope, request, wanted.server);
  // Before anybody is asked: a login may be quicker than the answer.
  const done = wanted.login.done(over).then(
    () => true,
    () => false,
  );
  const refused = uplink
    .request(ASK, wanted.question, over, { name: nameOf(wanted.login) })
    .then((answer) => (fromRaw(answer) as { action?: unknown } | null)?.action === "accept")
    .catch(() => false)
    .then((accepted) => (accepted ? done : false));
  try {
    const came = await Promise.race([done, refused]);
    if (signal.aborted) throw signal.reason;
    // The old era has a word for it; in the other one the client has asked again by now.
    if (came) uplink.notify("notifications/elicitation/complete", toRaw({ elicitationId: wanted.id }));
    return came;
  } finally {
    timer.cancel();
    stop();
    signal.removeEventListener("abort", giveUp);
    giveUp();
  }
}

/** A client that gave an answer before it was asked gave it for this very page. */
function nameOf({ url }: OwnLogin): string {
  return `login-${createHash("sha256").update(url).digest("hex").slice(0, 32)}`;
}

/** Progress that hardly counts: the server's own comes after. */
function showsLife(scope: Scope, { params, uplink }: Asking, server: string): () => void {
  const [meta] = params ? members(params, ["_meta"]) : [];
  const [token] = meta ? members(meta, ["progressToken"]) : [];
  if (!token) return () => {};
  const progressToken = fromRaw(token);
  let told = 0;
  let timer = scope.clock.after(SIGN_OF_LIFE_MS, tell);
  function tell(): void {
    told += 1;
    const message = `Waiting for the login at ${server}`;
    uplink.notify("notifications/progress", toRaw({ progressToken, progress: told / 1_000, message }));
    timer = scope.clock.after(SIGN_OF_LIFE_MS, tell);
  }
  return () => timer.cancel();
}
