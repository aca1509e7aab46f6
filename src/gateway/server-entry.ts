/**
 * Converts between server objects and entries of `.mcp.json`. Accepts the aliases of other clients, and
 * applies the rules of the config file.
 */
import { createHash } from "node:crypto";
import { KINDS } from "../config/dial.ts";
import type { EntryContext } from "../config/entry-context.ts";
import { Findings } from "../config/field.ts";
import { SERVER_KEYS } from "../config/keys.ts";
import { readSandbox } from "../config/sandbox.ts";
import { type CheckedServer, checkServer } from "../config/server.ts";
import { fieldsWhere } from "../config/server-fields.ts";
import { parseTime } from "../config/time.ts";
import { isUserValue, userValuesIn } from "../config/user-values.ts";
import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { StoredServer } from "./objects.ts";
import { ADDRESS_FIELDS, mapTexts } from "./secret-texts.ts";
import { mapSecrets, opened, type Vault } from "./secrets.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Replaces the aliases of other clients (`enabled`, `transport`, a plain list of tools) by the stored fields.
 */
export function canonical(entry: Fields): Fields {
  const { enabled, transport, transportType, ...rest } = entry;
  const type = rest["type"] ?? transport ?? transportType;
  const { tools } = rest;
  return {
    ...rest,
    ...(typeof enabled === "boolean" ? { disabled: !enabled || rest["disabled"] === true } : {}),
    // Other values stay, and the schema check refuses them.
    ...(typeof enabled === "boolean" || enabled == null ? {} : { enabled }),
    ...(type === undefined ? {} : { type: typeof type === "string" ? typeOf(type) : type }),
    ...(Array.isArray(tools) ? { tools: { allow: tools as unknown[] } } : {}),
  };
}

function typeOf(written: string): string {
  const word = written.toLowerCase();
  return Object.hasOwn(KINDS, word) ? (KINDS[word] as string) : word;
}

/** The entry as in a config file, with secrets decrypted. */
export function entryOf(spec: StoredServer, vault: Pick<Vault, "open">): Fields {
  const secrets = mapSecrets({ ...spec }, (secret) => opened(secret as never, vault));
  const open = mapTexts(secrets, (text) => opened(text, vault));
  return Object.fromEntries(Object.entries(open).filter(([key]) => isOfEngine(key)));
}

/** Whether the engine uses the field. The engine does not know the layers of a gateway. */
function isOfEngine(key: string): boolean {
  return SERVER_KEYS.includes(key) && key !== "middleware";
}

export function compileEntry(
  name: string,
  spec: StoredServer,
  entryContext: EntryContext,
  vault: Pick<Vault, "open">,
): CheckedServer {
  return checkServer(name, entryOf(spec, vault), entryContext);
}

const CONNECTION_FIELDS: ReadonlySet<string> = new Set(fieldsWhere(({ effect }) => effect !== "tunes"));

/** Whether a change of these fields needs a new connection. */
export function changesConnection(fields: readonly string[]): boolean {
  return fields.some((field) => CONNECTION_FIELDS.has(field));
}

/** Changes when another connection is needed, and with the secret key. Its secrets are sealed ones. */
export function connectionDigest(spec: StoredServer): string {
  const fields = Object.entries(spec).filter(([field]) => CONNECTION_FIELDS.has(field));
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("base64url").slice(0, 22);
}

const NOWHERE: EntryContext = { path: "/", folder: "/", env: {}, skillFolders: ["/"] };

/**
 * Checks that the schema cannot express. All variables count as set, because other gateways may have them.
 */
export function serverProblems(name: string, fields: Fields): readonly FieldProblem[] {
  const wrong = [
    ...argumentProblems(fields),
    ...timeProblems(fields),
    ...instanceProblems(fields),
    ...userValueProblems(fields),
  ];
  const entry = Object.entries(withoutVariables(fields)).filter(([key]) => isOfEngine(key));
  const { result } = checkServer(name, { ...Object.fromEntries(entry), disabled: false }, NOWHERE);
  return result === "disabled" || "spec" in result ? wrong : [...wrong, ...result.problems];
}

/** Of the sandboxes in the settings. */
export function sandboxProblems(rules: unknown): readonly FieldProblem[] {
  return Object.entries(isRecord(rules) ? rules : {}).flatMap(([name, sandbox]) => {
    const findings = new Findings();
    readSandbox(sandbox, "sandbox", NOWHERE, findings);
    return findings.faults.map(({ path, message }) => ({
      path: path.replace("/sandbox", `/sandbox/${name}`),
      message,
    }));
  });
}

/** Each argument is searched for secrets. */
const MOST_ARGUMENT_CHARACTERS = 262_144;

function argumentProblems({ args = [] }: Fields): readonly FieldProblem[] {
  const characters = (args as readonly string[]).reduce((sum, arg) => sum + arg.length, 0);
  if (characters <= MOST_ARGUMENT_CHARACTERS) return [];
  return [{ path: "/args", message: `may have ${MOST_ARGUMENT_CHARACTERS} characters at most, together` }];
}

function instanceProblems({ url, openapi, instances = 1 }: Fields): readonly FieldProblem[] {
  if ((url === undefined && openapi === undefined) || instances === 1) return [];
  return [{ path: "/instances", message: "must be 1: a remote server has no local processes" }];
}

const USER_VALUES = `\${user.email}, \${user.id} and \${user.secret.NAME}`;

/** An unknown `${user.…}` would reach the server as text, so it is refused. */
function userValueProblems(fields: Fields): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (field === "env" || field === "headers") {
      for (const [name, text] of Object.entries(isRecord(value) ? value : {}))
        if (typeof text === "string" && !userValuesIn(text).every(isUserValue))
          problems.push({ path: pointer("", field, name), message: `can name ${USER_VALUES}` });
    } else if (CONNECTION_FIELDS.has(field) && JSON.stringify(value ?? null).includes(`\${user.`))
      problems.push({
        path: `/${field}`,
        message: `cannot name a user: ${USER_VALUES} work in env and headers`,
      });
  }
  return problems;
}

const TIMES = fieldsWhere(({ unit }) => unit === "ms");

function timeProblems(fields: Fields): readonly FieldProblem[] {
  const message = 'must be whole milliseconds up to 24 days, or a time such as "30s" or "5m"';
  const wrong = (value: unknown, least: number): boolean =>
    value !== undefined && (parseTime(value) ?? -1) < least;
  const problems = TIMES.flatMap((key) => (wrong(fields[key], 1) ? [{ path: `/${key}`, message }] : []));
  const { lifecycle } = fields;
  if (isRecord(lifecycle) && wrong(lifecycle["idleTimeoutMs"], 0))
    problems.push({ path: "/lifecycle/idleTimeoutMs", message });
  return problems;
}

/** Replaces texts with variables by texts that break no rule. */
function withoutVariables(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    RUNS.has(name) ? replaced(value, isAddress(name) ? "https://x.invalid/" : "x") : value,
  ]);
  return Object.fromEntries(entries) as Fields;
}

function isAddress(name: string): boolean {
  return (ADDRESS_FIELDS as readonly string[]).includes(name);
}

const RUNS: ReadonlySet<string> = new Set(fieldsWhere(({ effect }) => effect === "runs"));

function replaced(value: unknown, instead: string): unknown {
  if (typeof value === "string") return value.includes("${") ? instead : value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, instead));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, instead)]));
}
