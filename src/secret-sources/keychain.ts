/**
 * `${keychain:NAME}`: a secret in the keychain of the user. On Linux the Secret Service, by `secret-tool`; on
 * macOS the Keychain, by `security`.
 */
import { shellWord } from "../kernel/shell-word.ts";
import { runCommand } from "./run-command.ts";
import { SecretUnavailable } from "./unavailable.ts";

const SERVICE = "metamcp";
/** A person may have to unlock the keychain. */
const TIMEOUT = { timeoutMs: 60_000 } as const;

interface Keychain {
  find(name: string, signal?: AbortSignal): Promise<string | undefined>;
  store(name: string, value: string): Promise<void>;
}

const secretService: Keychain = {
  async find(name, signal) {
    const { exitCode, stdout, complaint } = await secretTool(["lookup", ...attributes(name)], { signal });
    if (exitCode === 0) return stdout;
    // It says nothing if there is no such secret.
    if (complaint === "") return undefined;
    throw new SecretUnavailable(`the keychain does not answer: ${complaint}`, { offline: true });
  },
  async store(name, value) {
    const args = ["store", "--label", `MetaMCP: ${name}`, ...attributes(name)];
    const { exitCode, complaint } = await secretTool(args, { stdin: value });
    if (exitCode !== 0) throw new SecretUnavailable(`the keychain did not take it: ${complaint}`);
  },
};

function attributes(name: string): readonly string[] {
  return ["service", SERVICE, "account", name];
}

function secretTool(args: readonly string[], more: { signal?: AbortSignal | undefined; stdin?: string }) {
  const install = "secret-tool (package libsecret-tools), and a keychain such as GNOME Keyring or KWallet";
  return runCommand("secret-tool", args, { install, ...TIMEOUT, ...more });
}

/** The exit code of `security` if there is no such item. */
const NOT_FOUND = 44;

const macKeychain: Keychain = {
  async find(name, signal) {
    const args = ["find-generic-password", "-s", SERVICE, "-a", name, "-w"];
    const { exitCode, stdout, complaint } = await security(args, { signal });
    if (exitCode === 0) return stdout;
    if (exitCode === NOT_FOUND) return undefined;
    throw new SecretUnavailable(`the keychain does not answer: ${complaint}`, { offline: true });
  },
  async store(name, value) {
    // As a command on its input, because others can see the arguments of a program.
    const command = ["add-generic-password", "-U", "-s", SERVICE, "-a", quoted(name), "-w", quoted(value)];
    const { exitCode, complaint } = await security(["-i"], { stdin: `${command.join(" ")}\n` });
    if (exitCode !== 0 || complaint !== "")
      throw new SecretUnavailable(`the keychain did not take it: ${complaint}`);
  },
};

function security(args: readonly string[], more: { signal?: AbortSignal | undefined; stdin?: string }) {
  return runCommand("security", args, { install: "the command line tools of macOS", ...TIMEOUT, ...more });
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}

function keychain(): Keychain {
  if (process.platform === "darwin") return macKeychain;
  if (process.platform === "win32")
    throw new SecretUnavailable(`there is no keychain for MetaMCP on Windows: use \${file:…}`);
  return secretService;
}

export async function secretInKeychain(name: string, signal?: AbortSignal): Promise<string> {
  const found = await keychain().find(name, signal);
  if (found !== undefined) return found;
  throw new SecretUnavailable(
    `the keychain has no secret "${name}": store it with metamcp add --secret, or where metamcp runs: ${howToStore(name)}`,
  );
}

function howToStore(name: string): string {
  const shown = shellWord(name);
  return process.platform === "darwin"
    ? `security add-generic-password -s ${SERVICE} -a ${shown} -w`
    : `secret-tool store --label MetaMCP service ${SERVICE} account ${shown}`;
}

/** The value must be one line of printable characters. */
export async function storeInKeychain(name: string, value: string): Promise<void> {
  if (value === "" || /\p{Cc}/u.test(value))
    throw new SecretUnavailable("a secret for the keychain must be one line that is not empty");
  await keychain().store(name, value);
}
