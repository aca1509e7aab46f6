/** Takes a child's own secrets out of what is shown of its output. Knows them by the names of its variables; guesses at nothing else. */

const SECRET_NAME = /key|token|secret|passw|passphrase|pwd|auth|credential|private|dsn|database_url/i;
/** Shorter ones would be found everywhere. */
const SHORTEST = 6;

export type Conceal = (text: string) => string;

export function concealing(env: Readonly<Record<string, string>>): Conceal {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SHORTEST)
    .map(([, value]) => value)
    // One may be a part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}
