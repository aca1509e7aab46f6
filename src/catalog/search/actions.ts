/**
 * Kinds of action that verbs stand for: "remove" and "delete" ask for the same kind of tool. A set of kinds
 * is a bit mask.
 */
import { stem } from "./stem.ts";

const KINDS: readonly string[] = [
  "get show view fetch retrieve describe inspect lookup details detail info information load display current access obtain return summary status",
  "list browse enumerate all every available listing",
  "search find query locate discover lookup look seek explore recommend suggest recommendation suggestion identify",
  "read extract scrape parse",
  "create add new insert make register build book reserve place schedule order append save store write put log record draft plan start init initialize",
  "generate draw render compose design produce plot image",
  "update edit modify change patch set configure adjust alter replace rename apply assign mark toggle turn switch manage format resize",
  "move transfer",
  "copy duplicate clone fork",
  "delete remove drop erase clear uninstall destroy cancel close revoke unsubscribe terminate archive end",
  "send message email notify forward reply post publish submit share tweet broadcast invite push request ask comment",
  "run execute start launch trigger deploy invoke call play resume enable activate install open connect apply control",
  "stop pause abort kill disable mute block cancel lock close terminate",
  "restart reboot reset reload rollback retry restore undo refresh",
  "upload import attach",
  "download export print backup capture",
  "convert translate transform encode decode split merge format conversion translation",
  "analyze analysis compare comparison summarize evaluate explain predict prediction forecast detect classify recognize review audit track",
  "calculate compute count sum estimate solve calculator determine",
  "check validate verify test confirm lint scan",
  "approve accept resolve complete finish merge unlock",
];
export const KIND_COUNT = KINDS.length;
/** Verbs that are nouns in most names: `comment_create` creates, `messages_list` lists. */
const NOUNS =
  "audit block book comment email image log message order plan post record request review store summary status test track";
const GET = 1 << 0;
const LIST = 1 << 1;
const PLURAL = /[^s]s$/;
/** Words that end like a plural and name one thing. */
const SINGULAR = /(?:status|details|stats|statistics|analytics|news)$/;

/** By stem. Built at the first use, like all tables of words. */
let masks: Map<string, number> | undefined;
let nouns: Set<string> | undefined;

/** The kinds of action that a word stands for; 0 if it is no such verb. */
export function actionsOf(word: string): number {
  masks ??= buildTable();
  return masks.get(stem(word)) ?? 0;
}

/**
 * What a tool with this name does: its first word if that is a verb, else its last, else any. `NOUNS` count
 * only if there is no other verb. `get_comments` lists.
 */
export function actionsOfName(name: readonly string[]): number {
  const last = name.at(-1) ?? "";
  const inOrder = [name[0] ?? "", last, ...name];
  const verb = inOrder.find((word) => actionsOf(word) !== 0 && !isNoun(word)) ?? inOrder.find(actionsOf);
  const actions = actionsOf(verb ?? "");
  const lists = (actions & GET) !== 0 && name.length > 1 && PLURAL.test(last) && !SINGULAR.test(last);
  return lists ? (actions & ~GET) | LIST : actions;
}

function isNoun(word: string): boolean {
  nouns ??= new Set(NOUNS.split(" ").map(stem));
  return nouns.has(stem(word));
}

function buildTable(): Map<string, number> {
  const out = new Map<string, number>();
  for (const [index, verbs] of KINDS.entries()) {
    for (const verb of verbs.split(" ")) out.set(stem(verb), (out.get(stem(verb)) ?? 0) | (1 << index));
  }
  return out;
}
