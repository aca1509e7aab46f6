/** `metamcp auth`: logs in to remote servers, shows the logins, and logs out. Never shows a token. */
import { type Table, UsageError } from "../config/command-line.ts";
import { hasEntryCredential } from "../config/entry-credential.ts";
import type { ReadSettings } from "../config/settings.ts";
import type { Config, RemoteSpec } from "../config/spec.ts";
import { systemClock as clock } from "../engine/system-clock.ts";
import { homeFolder } from "../home/home.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import { resolveSecrets } from "../secret-sources/resolve.ts";
import {
  addressOf,
  DEFAULT_ACCOUNT,
  type Grant,
  grantInUse,
  grantOf,
  useAccount,
  withGrant,
} from "../server-logins/grant.ts";
import { loginsAt } from "../server-logins/status.ts";
import { TokenStore } from "../server-logins/store.ts";
import type { Command, ExitCode } from "./command.ts";
import { printError } from "./print.ts";
import { spin } from "./spinner.ts";
import { show, table } from "./table.ts";
import { readConfig } from "./with-engine.ts";

const FLAGS = {
  status: { kind: "switch", env: false, help: "Show the logins at this server, or at all servers." },
  logout: { kind: "switch", env: false, help: "Delete the login, and revoke it at the issuer." },
  account: {
    kind: "text",
    env: false,
    value: "name",
    help: "Account to use, if you have several; used from then on.",
  },
  noBrowser: { kind: "switch", env: false, help: "Print the address instead of opening a browser." },
  callbackPort: {
    kind: "whole",
    env: false,
    least: 0,
    most: 65_535,
    default: 0,
    help: "Port for the browser's redirect; 0 picks a free one.",
  },
} as const satisfies Table;

export const command: Command = {
  name: "auth",
  usage: "auth SERVER [--account NAME] | --logout SERVER | --status [SERVER]",
  summary: "Log in to a remote server, or log out.",
  flags: FLAGS,
  takes: [0, 1],
  async run(given) {
    const { settings, positionals } = given as ReadSettings<typeof FLAGS>;
    const [name] = positionals;
    if (settings.status && settings.logout) throw new UsageError("--status and --logout exclude each other.");
    if (name === undefined && !settings.status) throw new UsageError(`Usage: metamcp ${command.usage}`);
    const config = await readConfig(given);
    if (settings.status) return await status(config, name, settings.json);
    const spec = await resolveSecrets(remoteServer(config, name ?? ""));
    return settings.logout ? await runLogout(spec, settings) : await runLogin(spec, settings);
  },
};

type Settings = ReadSettings<typeof FLAGS>["settings"];

function remoteServer(config: Config, name: string): RemoteSpec {
  const spec = config.servers.get(name);
  if (!spec) {
    const why = config.broken.get(name);
    throw new Error(
      why
        ? `${name} cannot be used: ${why}`
        : `No server "${name}" is configured.${didYouMean(name, config.servers.keys())}`,
    );
  }
  if (spec.kind === "stdio") throw new Error(`${name} is a local server: set its credentials in "env".`);
  return spec;
}

const storeOf = ({ name }: RemoteSpec): TokenStore => new TokenStore(homeFolder(process.env), name);

async function runLogin(spec: RemoteSpec, settings: Settings): Promise<ExitCode> {
  if (hasEntryCredential(spec))
    throw new Error(
      `${spec.name} has an Authorization header in the config, which is used instead of a login.`,
    );
  const { account = DEFAULT_ACCOUNT } = settings;
  if (spec.oauth?.grant) return await runMachine(spec, settings);
  const known = await switchAccount(spec, account);
  const grant = known ?? (await logInAs(spec, account, settings));
  const { issuer, scopes, expiresAt } = grant;
  const login = { server: spec.name, account, issuer: issuer.issuer, scopes, expires: dateOf(expiresAt) };
  show({ ...login, loggedIn: !known }, settings.json, () =>
    known
      ? `${spec.name} now uses the account ${account}.`
      : `Logged in to ${spec.name} as ${account} at ${shownUrl(issuer.issuer)}.`,
  );
  return 0;
}

/** MetaMCP gets its token itself: gets a new one now, which shows whether the config is right. */
async function runMachine(spec: RemoteSpec, { account, json }: Settings): Promise<ExitCode> {
  if (account !== undefined)
    throw new UsageError(`${spec.name} has no accounts: MetaMCP gets tokens for itself (oauth.grant).`);
  const { machineGrant } = await import("../server-logins/machine-grant.ts");
  let grant: Grant | undefined;
  await storeOf(spec).update(async (before) => {
    grant = await machineGrant(spec, before, Date.now());
    return useAccount(withGrant(before, grant), grant.url, grant.account);
  });
  const { issuer, scopes, expiresAt } = grant as unknown as Grant;
  const got = { server: spec.name, issuer: issuer.issuer, scopes, expires: dateOf(expiresAt) };
  show(
    { ...got, loggedIn: true },
    json,
    () => `MetaMCP got a token for itself for ${spec.name} at ${shownUrl(issuer.issuer)}.`,
  );
  return 0;
}

/** Switches to an account that is logged in but not in use. Undefined if a new login is needed. */
async function switchAccount(spec: RemoteSpec, account: string): Promise<Grant | undefined> {
  const store = storeOf(spec);
  const url = addressOf(spec.url);
  const book = await store.read().catch(() => undefined);
  const grant = book && grantOf(book, url, account);
  const good = grant?.refreshToken !== undefined && !grant.wanted?.length;
  if (!grant || !good || grantInUse(book, url) === grant) return undefined;
  await store.update((before) => useAccount(before, url, account));
  return grant;
}

async function logInAs(spec: RemoteSpec, account: string, settings: Settings): Promise<Grant> {
  const { logIn } = await import("../server-logins/login.ts");
  const { openBrowser } = await import("./browser.ts");
  const spinner = spin(`asking ${spec.name} where to log in`);
  try {
    return await logIn({
      spec,
      account,
      clock,
      home: homeFolder(process.env),
      port: settings.callbackPort,
      now: Date.now,
      send(address) {
        spinner.stop();
        if (isUnencrypted(spec))
          printError(`${spec.name} does not use https: others on the network can read its tokens.`);
        printError(`To log in to ${spec.name}, open this address:\n\n  ${address.href}\n`);
        if (!settings.noBrowser) openBrowser(address);
      },
    });
  } finally {
    spinner.stop();
  }
}

async function runLogout(spec: RemoteSpec, settings: Settings): Promise<ExitCode> {
  const { logOut } = await import("../server-logins/logout.ts");
  const store = storeOf(spec);
  const url = addressOf(spec.url);
  const book = await store.read();
  const grant = settings.account === undefined ? grantInUse(book, url) : grantOf(book, url, settings.account);
  if (!grant) {
    throw new MetaMcpError(
      "auth_required",
      `There is no login for ${spec.name}${settings.account ? ` as ${settings.account}` : ""}.`,
    );
  }
  const revoked = await logOut(store, grant, spec.oauth);
  const { account, issuer } = grant;
  const note = revoked
    ? ""
    : ` ${shownUrl(issuer.issuer)} could not be reached to revoke the tokens. They will expire.`;
  show(
    { server: spec.name, account, loggedOut: true, revoked },
    settings.json,
    () => `Logged out of ${spec.name} (${account}).${note}`,
  );
  return 0;
}

async function status(config: Config, name: string | undefined, json: boolean): Promise<ExitCode> {
  const remote = [...config.servers.values()].filter((spec): spec is RemoteSpec => spec.kind !== "stdio");
  const specs = name === undefined ? remote : [remoteServer(config, name)];
  const all = await Promise.all(specs.map((spec) => loginsAt(spec, storeOf(spec), Date.now())));
  const logins = all.flat();
  show({ logins }, json, () => {
    if (logins.length === 0) return "No remote servers are configured.";
    const rows = logins.map(({ server, account = "", inUse, state, expires, renews, scopes = [] }) => [
      server,
      inUse ? `${account} *` : account,
      state,
      untilWhen(expires, renews),
      scopes.join(" "),
    ]);
    const several = logins.some(({ inUse }) => inUse === false);
    return `${table(["SERVER", "ACCOUNT", "STATE", "UNTIL", "SCOPES"], rows)}${several ? "\n\n*: in use" : ""}`;
  });
  return 0;
}

/** The expiry in local time. A token that is renewed automatically ends only if the login is revoked. */
function untilWhen(expires: string | undefined, renews = false): string {
  if (expires === undefined) return renews ? "renewed automatically" : "";
  const when = new Date(expires);
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
  return `${day} ${two(when.getHours())}:${two(when.getMinutes())}${renews ? ", then renewed" : ""}`;
}

function isUnencrypted({ url }: RemoteSpec): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(?:127\.[\d.]+|localhost|\[::1\])$/.test(hostname);
}

function dateOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
