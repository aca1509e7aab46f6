/** For a person who starts MetaMCP on a terminal before there is a config: what it is, and a way to get servers. Clients never see it. */
import { existsSync } from "node:fs";
import { VERSION } from "../kernel/version.ts";
import { type GalleryCandidate, galleryCandidates, suggestions } from "../provision/gallery/gallery.ts";
import { type Command, type ExitCode, runCommand } from "./command.ts";
import { table } from "./table.ts";

export interface Terminal {
  say(text: string): void;
  /** Undefined when the person has left. */
  ask(question: string): Promise<string | undefined>;
  /** Before somebody else reads from it. */
  close(): void;
}

export interface FirstRun {
  readonly terminal: Terminal;
  readonly commands: ReadonlyMap<string, () => Promise<{ readonly command: Command }>>;
  /** Where a config was looked for. */
  readonly paths: readonly string[];
  /** Goes on to every command, as in `--config x.json`. */
  readonly flags: readonly string[];
}

export type FirstStep = "import" | "add" | "serve" | "leave";

/** Most hits shown for words that are no names. */
const SHOWN = 8;

/** Resolves with how it ended, or with "serve" if the person wants MetaMCP to go on. */
export async function firstRun({ terminal, commands, paths, flags }: FirstRun): Promise<ExitCode | "serve"> {
  const canImport = commands.has("import");
  const known = (await galleryCandidates()).length;
  terminal.say(welcome(paths, known, canImport));
  const choice = await ask(terminal, canImport);
  if (choice === "serve") return choice;
  const names = choice === "add" ? await chooseServers(terminal) : [];
  terminal.close();
  const load =
    choice === "leave" || (choice === "add" && names.length === 0) ? undefined : commands.get(choice);
  if (!load) return 0;
  const code = await runCommand((await load()).command, [...names, ...flags]);
  terminal.say(paths.some((path) => existsSync(path)) ? next(commands.has("init")) : NO_CONFIG_YET);
  return code;
}

/** A screenful. */
export function welcome(paths: readonly string[], known: number, canImport: boolean): string {
  return `MetaMCP ${VERSION}: one MCP server in front of all the others.

Your client (Claude, Cursor, VS Code …) starts MetaMCP, and MetaMCP starts your MCP servers, each when it is first needed. The model sees a few small tools to find and call all others, instead of hundreds in every conversation.

There is no config yet. Looked for:
${paths.map((path) => `  ${path}`).join("\n")}

What would you like to do?
${canImport ? "  import  copy the servers that your clients already have\n" : ""}  add     choose from ${known} well-known servers
  serve   start without servers; a config is picked up when it appears
  quit
`;
}

/** What an answer means: a word or its beginning; nothing is the first that is offered. Undefined: not understood. */
export function choiceOf(answer: string, canImport: boolean): FirstStep | undefined {
  const word = answer.trim().toLowerCase();
  const offered: readonly (readonly [string, FirstStep])[] = [
    ...(canImport ? [["import", "import"] as const] : []),
    ["add", "add"],
    ["serve", "serve"],
    ["quit", "leave"],
    ["exit", "leave"],
  ];
  return offered.find(([name]) => name.startsWith(word))?.[1];
}

async function ask(terminal: Terminal, canImport: boolean): Promise<FirstStep> {
  for (;;) {
    const answer = await terminal.ask(`[${canImport ? "import" : "add"}] > `);
    if (answer === undefined) return "leave";
    const choice = choiceOf(answer, canImport);
    if (choice) return choice;
    terminal.say(`Please write ${canImport ? "import, " : ""}add, serve or quit.`);
  }
}

/** Until every word is the name of a server. None: the person has changed their mind. */
async function chooseServers(terminal: Terminal): Promise<readonly string[]> {
  const all = await galleryCandidates();
  terminal.say(byCategory(all));
  for (;;) {
    const answer = await terminal.ask("Server names, or a word for your task (Enter to quit) > ");
    const words =
      answer
        ?.toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean) ?? [];
    if (words.length === 0) return [];
    if (words.every((word) => all.some(({ name }) => name === word))) return words;
    terminal.say(await hits(words, all));
  }
}

function byCategory(all: readonly GalleryCandidate[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, category } of all) groups.set(category, [...(groups.get(category) ?? []), name]);
  return [...groups]
    .toSorted(([a], [b]) => a.localeCompare(b, "en"))
    .map(([category, names]) => `${category}: ${names.join(", ")}`)
    .join("\n");
}

async function hits(words: readonly string[], all: readonly GalleryCandidate[]): Promise<string> {
  const names = new Set((await Promise.all(words.map((word) => suggestions(word, SHOWN)))).flat());
  const rows = all.filter(({ name }) => names.has(name)).map(({ name, description }) => [name, description]);
  return rows.length > 0 ? table(["NAME", "WHAT IT IS FOR"], rows) : "The gallery has no such server.";
}

const NO_CONFIG_YET = `
There is still no config. Next:
  metamcp add --list           list well-known servers
  metamcp add NAME             add one of them`;

function next(canInit: boolean): string {
  return `
Next:
  metamcp doctor               check every server
${canInit ? "  metamcp init                 connect your clients to MetaMCP\n" : ""}  metamcp search "a task"      find tools for it`;
}
