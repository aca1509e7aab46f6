/**
 * Rules that bring one JSON value into the form that the protocol gives it: a wrong member is removed, all
 * others keep their bytes. A rule returns the same object if nothing is wrong.
 */
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { elements, entries, isArray, isObject, isString, withMember } from "../rpc/slice.ts";
import { joinArray } from "./json-array.ts";

/** Takes one sentence per problem, e.g. `description is null`. */
export type Note = (problem: string) => void;
/** `at` names the value in notes. Undefined: the value must be removed. */
export type Rule = (value: Raw, at: string, note: Note) => Raw | undefined;

const LONGEST_SHOWN = 40;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A value of which this function says whether it is right. */
function simple(isRight: (value: Raw) => boolean): Rule {
  return (value, at, note) => {
    if (isRight(value)) return value;
    note(`${at} is ${shown(value)}`);
    return undefined;
  };
}

export const text = simple(isString);
export const flag = simple((value) => /^(true|false)$/.test(short(value)));
export const number = simple(isNumber);
export const fraction = simple(
  (value) => isNumber(value) && Number(short(value)) >= 0 && Number(short(value)) <= 1,
);
export const anyObject = simple(isObject);
export const dateTime = simple((value) => isString(value) && isDateTime(fromRaw(value) as string));

export function oneOf(...texts: readonly string[]): Rule {
  return simple((value) => isString(value) && texts.includes(fromRaw(value) as string));
}

/** An object whose members follow their rules. Other members pass as they are. */
export function object(rules: Readonly<Record<string, Rule>>, required?: string): Rule {
  return (value, at, note) => {
    if (!isObject(value)) return anyObject(value, at, note);
    let repaired = value;
    let found = required === undefined;
    for (const [key, member] of entries(value)) {
      const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
      const right = rule ? rule(member, at === "" ? key : `${at}.${key}`, note) : member;
      if (right !== member) repaired = withMember(repaired, key, right);
      if (key === required) found = right !== undefined;
    }
    if (!found) note(`${at} has no ${required}`);
    return found ? repaired : undefined;
  };
}

/** An array. Elements that do not follow the rule are removed. */
export function list(rule: Rule): Rule {
  return (value, at, note) => {
    if (!isArray(value)) {
      note(`${at} is ${shown(value)}`);
      return undefined;
    }
    const written = elements(value);
    const right = written.map((element, index) => rule(element, `${at}[${index}]`, note));
    return right.every((element, index) => element === written[index])
      ? value
      : joinArray(right.filter((element) => element !== undefined));
  };
}

function isNumber(value: Raw): boolean {
  return /^[-\d]/.test(short(value)) && Number.isFinite(Number(short(value)));
}

function isDateTime(written: string): boolean {
  const at = DATE_TIME.test(written) ? Date.parse(written) : Number.NaN;
  // JavaScript reads 30 February as 2 March.
  return !Number.isNaN(at) && Number(written.slice(8, 10)) <= daysOf(written);
}

function daysOf(written: string): number {
  return new Date(Date.UTC(Number(written.slice(0, 4)), Number(written.slice(5, 7)), 0)).getUTCDate();
}

function short(value: Raw): string {
  return value.toString("utf8", 0, 32);
}

/** What a value is, for notes. */
export function shown(value: Raw): string {
  if (isObject(value)) return "an object";
  if (isArray(value)) return "a list";
  return value.length > LONGEST_SHOWN ? "a text" : value.toString();
}
