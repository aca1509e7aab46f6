/** Layer `filter`: hides tools from lists and refuses their calls, for all callers. */
import { compileGlob, type Matcher, matchesAllWith, matchesSomeWith } from "../../config/glob.ts";
import { isOtherMethod } from "../../kernel/methods.ts";
import { perObject } from "../../kernel/per-object.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import { GLOBS } from "../globs.ts";
import type { Layer, LayerKind } from "../layer.ts";
import { notPermitted, toolNotFound } from "../refusals.ts";

interface Options {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly labels?: readonly string[];
}

export const filter: LayerKind = {
  summary: "Hide tools from lists and refuse their calls.",
  guards: true,
  schema: {
    properties: {
      allow: { ...GLOBS, description: "only these tools: globs for server:tool" },
      deny: { ...GLOBS, description: "none of these tools: globs for server:tool" },
      readOnly: { type: "boolean", description: "true: only tools with readOnlyHint" },
      destructive: { type: "boolean", description: "false: no tools with destructiveHint" },
      labels: {
        type: "array",
        items: { type: "string", minLength: 1 },
        maxItems: 1_000,
        description: "only servers with one of these labels",
      },
    },
  },
  compile(given) {
    const options = given as Options;
    const labelRule = hidingServers(options);
    const rule = hiding(options);
    // Prompts and resources of a server with tools are judged by the labels of the server only.
    const callRule = (facts: ToolFacts): string | undefined =>
      labelRule(facts) ?? (facts.name === "" ? undefined : rule(facts));
    const hidden = perObject(callRule);
    return {
      list: {
        hides: (facts) => labelRule(facts) ?? rule(facts),
        hidesServer: (server) => labelRule(server) !== undefined || hidesAll(options, server),
      },
      ...denyBuiltin(options.deny ?? []),
      explain({ facts }) {
        const reason = facts ? callRule(facts) : "the tool is unknown";
        return reason === undefined ? undefined : { effect: "deny", reason, code: "tool_not_found" };
      },
      call: (next) => (call) => {
        const { facts } = call;
        // Without facts the tool cannot be checked, so it is refused.
        const reason = facts ? hidden(facts) : "the tool is unknown";
        if (reason === undefined) return next(call);
        return Promise.reject(isOtherMethod(call.method) ? notPermitted(call) : toolNotFound(reason));
      },
    };
  },
};

function hidingServers({ labels }: Options) {
  return (facts: ToolFacts): string | undefined =>
    labels && !labels.some((label) => facts.labels.includes(label))
      ? "its server has none of the labels"
      : undefined;
}

/** Returns why a tool is hidden. */
function hiding({ allow, deny = [], readOnly, destructive }: Options) {
  const allowed = allow?.map(compileGlob);
  const denied = deny.map(compileGlob);
  return (facts: ToolFacts): string | undefined => {
    const name = qualifiedName(facts);
    if (some(denied, name)) return "denied";
    if (allowed && !some(allowed, name)) return "not allowed by the filter";
    if (readOnly && facts.annotations.readOnlyHint !== true) return "not read-only";
    if (destructive === false && facts.annotations.destructiveHint === true) return "destructive";
    return undefined;
  };
}

function hidesAll({ allow, deny = [] }: Options, server: ToolFacts): boolean {
  const prefix = qualifiedName({ ...server, name: "" });
  return (
    deny.some((glob) => matchesAllWith(glob, prefix)) ||
    allow?.some((glob) => matchesSomeWith(glob, prefix)) === false
  );
}

function some(matchers: readonly Matcher[], name: string): boolean {
  return matchers.some((matcher) => matcher(name));
}

/** Our own tools are hidden only by globs that begin with `metamcp:`. `*` matches only tools of servers. */
function denyBuiltin(deny: readonly string[]): Pick<Layer, "hidesOwn"> {
  const denied = deny.filter((glob) => glob.startsWith("metamcp:")).map(compileGlob);
  return denied.length === 0 ? {} : { hidesOwn: (tool) => some(denied, qualifiedName(tool)) };
}
