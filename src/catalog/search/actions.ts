/** Fourteen kinds of action that verbs stand for: "remove" and "delete" ask for the same kind of tool. A set of kinds is a bit mask. */
import { stem } from "./stem.ts";

const KINDS: readonly string[] = [
  "create add new make insert generate build write compose draft register schedule book save store put init initialize append open produce design plot draw render",
  "get fetch retrieve read show view display load describe info details detail check inspect lookup obtain return access information",
  "list all enumerate browse listing every available",
  "search find query locate discover explore look seek browse",
  "update edit modify change set rename replace patch adjust configure alter move",
  "delete remove erase clear drop cancel uninstall destroy unsubscribe",
  "send email notify message share post publish reply submit tweet",
  "calculate compute count sum estimate evaluate solve calculator determine",
  "convert translate transform format export import parse encode decode conversion translation",
  "analyze compare summarize predict forecast analysis summary comparison prediction detect classify extract recognize",
  "run execute start launch trigger deploy invoke play control stop",
  "recommend suggest recommendation suggestion advise advice",
  "download upload backup clone save",
  "validate verify check test confirm",
];

export const READ_ACTIONS = maskOf(1, 2, 3, 13);
export const CHANGE_ACTIONS = maskOf(0, 4, 5, 6);

function maskOf(...indexes: number[]): number {
  return indexes.reduce((mask, index) => mask | (1 << index), 0);
}

/** By stem. Built at the first use, like all tables of words. */
let masks: Map<string, number> | undefined;

/** The kinds of action that the words stand for; 0 if none of them is such a verb. */
export function actionsOf(words: readonly string[]): number {
  masks ??= buildTable();
  let mask = 0;
  for (const word of words) mask |= masks.get(stem(word)) ?? 0;
  return mask;
}

export function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function buildTable(): Map<string, number> {
  const out = new Map<string, number>();
  for (const [index, verbs] of KINDS.entries()) {
    for (const verb of verbs.split(" ")) out.set(stem(verb), (out.get(stem(verb)) ?? 0) | (1 << index));
  }
  return out;
}
