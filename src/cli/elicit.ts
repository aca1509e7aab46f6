/** Asks a server's elicitation at the terminal: yes or no, a form field by field, or a URL to open. */
import { fromRaw, type Raw } from "../kernel/raw.ts";
import type { Terminal } from "./first-run.ts";
import { describeField, type Field, type FieldSchema, promptOf, readField } from "./form-field.ts";
import { readable } from "./readable.ts";

export interface ElicitResult {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Question {
  readonly mode?: string;
  readonly message?: string;
  readonly url?: string;
  readonly requestedSchema?: {
    readonly properties?: Readonly<Record<string, FieldSchema>>;
    readonly required?: readonly string[];
  };
}

/** `open` opens a URL in the browser. */
export async function elicit(
  params: Raw | undefined,
  terminal: Terminal,
  open: (address: URL) => void,
): Promise<ElicitResult> {
  const question = (params ? fromRaw(params) : {}) as Question;
  const { message = "", mode, url = "", requestedSchema = {} } = question;
  const shown = readable(message);
  if (mode === "url") return await askToOpen(shown, url, { terminal, open });
  const { properties = {}, required = [] } = requestedSchema;
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
  if (fields.length > 0) return await fillIn(shown, fields, terminal);
  terminal.say(`\n${shown}`);
  return yesOrNo(await terminal.ask("Your answer [y/N]: "));
}

async function askToOpen(
  message: string,
  url: string,
  { terminal, open }: { terminal: Terminal; open: (address: URL) => void },
): Promise<ElicitResult> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    terminal.say("The server asked to open an address that is not a web address. This was refused.");
    return { action: "decline" };
  }
  terminal.say(
    `\n${message}\nThe server asks you to open this address on ${address.host}:\n  ${address.href}`,
  );
  const answer = yesOrNo(await terminal.ask("Open it in your browser? [y/N] "));
  if (answer.action === "accept") open(address);
  return answer;
}

async function fillIn(message: string, fields: readonly Field[], terminal: Terminal): Promise<ElicitResult> {
  terminal.say(`\nThe server asks: ${message}`);
  terminal.say("Press Enter to take the value in brackets or to skip an optional field. Ctrl-D cancels.");
  const content: Record<string, unknown> = {};
  for (const field of fields) {
    const value = await fieldValue(field, terminal);
    if (value === CANCELLED) return { action: "cancel" };
    if (value !== undefined) content[field.name] = value;
  }
  const answer = await terminal.ask(`Send ${JSON.stringify(content)}? [Y/n] `);
  if (answer === undefined) return { action: "cancel" };
  return /^\s*(?:y(?:es)?)?\s*$/i.test(answer) ? { action: "accept", content } : { action: "decline" };
}

const CANCELLED = Symbol("cancelled");

/** Asks until the answer is valid. */
async function fieldValue(field: Field, terminal: Terminal): Promise<unknown> {
  terminal.say(`\n${readable(describeField(field))}`);
  for (;;) {
    const line = await terminal.ask(readable(promptOf(field)));
    if (line === undefined) return CANCELLED;
    const reading = readField(field, line);
    if ("value" in reading) return reading.value;
    terminal.say(reading.problem);
  }
}

function yesOrNo(answer: string | undefined): ElicitResult {
  if (answer === undefined) return { action: "cancel" };
  return { action: /^\s*y(es)?\s*$/i.test(answer) ? "accept" : "decline" };
}
