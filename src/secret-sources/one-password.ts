/** `${op://vault/item/field}`: a secret in 1Password, by its command `op`. */
import { runCommand } from "./run-command.ts";
import { SecretUnavailable } from "./unavailable.ts";

/** A person may have to unlock 1Password. */
const TIMEOUT_MS = 60_000;

export async function secretIn1Password(name: string, signal?: AbortSignal): Promise<string> {
  const { exitCode, stdout, complaint } = await runCommand("op", ["read", "--no-newline", `op://${name}`], {
    install: "the command-line tool of 1Password (https://developer.1password.com/docs/cli)",
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  if (exitCode === 0) return stdout;
  throw new SecretUnavailable(`1Password does not give it: ${complaint}. Is "op signin" done?`);
}
