/**
 * The dialog for a person who starts MetaMCP at a terminal without a config: explains MetaMCP and offers ways
 * to get servers. Clients never see it.
 */
import { existsSync } from "node:fs";
import { VERSION } from "../kernel/version.ts";
import { type GalleryCandidate, galleryCandidates, suggestions } from "../provision/gallery/gallery.ts";
import { type Command, type ExitCode, runCommand } from "./command.ts";
import { table } from "./table.ts";

export interface Terminal {
  say(text: string): void;
  /** Undefined if the input has ended. */
  ask(question: string): Promise<string | undefined>;
  /** Must be called before other code reads from the terminal. */
  close(): void;
}

export interface FirstRun {
  readonly terminal: Terminal;
  readonly commands: ReadonlyMap<string, () => Promise<{ readonly command: Command }>>;
  /** The paths where a config was searched. */
  readonly paths: readonly string[];
  /** Flags for the started command, e.g. `--config x.json`. */
  readonly flags: readonly string[];
}

export type FirstStep = "import" | "add" | "serve" | "leave";

/** Limit of suggestions per word that is not a name. */
const MAX_SUGGESTIONS = 8;

/** Returns the exit code, or "serve" if MetaMCP should start serving. */
export async function firstRun({ terminal, commands, paths, flags }: FirstRun): Promise<ExitCode | "serve"> {
  const canImport = commands.has("import");
  const galleryCount = (await galleryCandidates()).length;
  terminal.say(welcome(paths, galleryCount, canImport));
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

/** Fits on one screen. */
export function welcome(paths: readonly string[], galleryCount: number, canImport: boolean): string {
  return `MetaMCP ${VERSION}: one MCP server in front of all the others.

Your client (Claude, Cursor, VS Code …) starts MetaMCP, and MetaMCP starts your MCP servers, each when it is first needed. The model sees a few small tools to find and call all others, instead of hundreds in every conversation.

There is no config yet. Looked for:
${paths.map((path) => `  ${path}`).join("\n")}

What would you like to do?
${canImport ? "  import  copy the servers that your clients already have\n" : ""}  add     choose from ${galleryCount} well-known servers
  serve   start without servers; a config is picked up when it appears
  quit
`;
}

/**
 * Reads an answer: a choice or its first letters. An empty answer is the first choice. Undefined if nothing
 * matches.
 */
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

/** Asks until every word is the name of a server. Returns no names if the person quits. */
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
  const names = new Set((await Promise.all(words.map((word) => suggestions(word, MAX_SUGGESTIONS)))).flat());
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
