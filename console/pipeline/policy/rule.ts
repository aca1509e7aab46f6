/** The rule of a policy as the editor knows it, and its sentence. Pure. */
import { policyTexts } from "../../texts/policy.ts";

const texts = policyTexts.sentence;

export type Effect = keyof typeof policyTexts.effects;
export type Tier = keyof typeof policyTexts.tiers;

export interface Rule {
  readonly effect: Effect;
  readonly tools?: readonly string[];
  readonly tiers?: readonly Tier[];
  readonly labels?: readonly string[];
  readonly who?: Partial<Readonly<Record<"users" | "groups" | "roles" | "keys", readonly string[]>>>;
  readonly by?: Partial<Readonly<Record<"groups" | "roles", readonly string[]>>>;
  readonly withinMs?: number | string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly when?: string;
}

/** The effect, and the rest of the sentence, so that a page can stress the effect. */
export interface Sentence {
  readonly effect: string;
  readonly rest: string;
}

export function sentenceOf(rule: Rule): Sentence {
  const { effect, tools, tiers, labels = [], who, args, when, by, withinMs } = rule;
  const approvers = namesOf(by);
  const begin =
    effect === "approve" ? (approvers ? texts.approvalOf(approvers) : texts.approval) : texts[effect];
  const people = namesOf(who);
  const what = tools ? tools.join(", ") : texts.allTools;
  const kinds = tiers ? `that ${tiers.map((tier) => policyTexts.tiers[tier]).join(" or ")}` : "";
  const rest = [
    what,
    kinds,
    labels.length > 0 ? texts.labels(labels.join(", ")) : "",
    people ? (effect === "allow" || effect === "deny" ? texts.for(people) : texts.of(people)) : "",
    args ? texts.args(Object.keys(args).join(", ")) : "",
    when ? texts.when : "",
    effect === "approve" && withinMs !== undefined ? texts.within(timeOf(withinMs)) : "",
  ];
  return { effect: begin, rest: rest.filter(Boolean).join(" ") };
}

function namesOf(who: Rule["who"]): string | undefined {
  const { users = [], groups = [], roles = [], keys = [] } = who ?? {};
  const names = [
    ...users,
    ...groups.map((group) => `group ${group}`),
    ...roles.map((role) => `role ${role}`),
    ...keys.map((key) => `key ${key}`),
  ];
  return names.length > 0 ? names.join(", ") : undefined;
}

function timeOf(withinMs: number | string): string {
  if (typeof withinMs === "string") return withinMs;
  return withinMs % 3_600_000 === 0 ? `${withinMs / 3_600_000} h` : `${Math.round(withinMs / 60_000)} min`;
}

/** The rule with this field, or without it if the value is empty. */
export function withField<K extends keyof Rule>(rule: Rule, field: K, value: Rule[K] | undefined): Rule {
  const { [field]: _, ...rest } = rule;
  return (isEmpty(value) ? rest : { ...rest, [field]: value }) as Rule;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The rules with the one at `from` moved to the place `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [one] = next.splice(from, 1);
  if (one !== undefined) next.splice(to, 0, one);
  return next;
}
