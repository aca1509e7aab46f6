/** Layer `ask`: asks the person at the client for permission before each call of the given tools. */
import { compileGlob } from "../../config/glob.ts";
import type { Call } from "../../kernel/call.ts";
import { isOtherMethod } from "../../kernel/methods.ts";
import { perObject } from "../../kernel/per-object.ts";
import { qualifiedName, type ToolFacts } from "../../kernel/tool-facts.ts";
import { withConsent } from "../consent.ts";
import { GLOBS } from "../globs.ts";
import type { LayerKind } from "../layer.ts";
import { notPermitted } from "../refusals.ts";

export const ask: LayerKind = {
  summary: "Ask the user of the client before each call of these tools.",
  schema: {
    properties: {
      tools: GLOBS,
      destructive: { type: "boolean", description: "true: tools with destructiveHint" },
    },
    anyOf: [{ required: ["tools"] }, { required: ["destructive"] }],
  },
  compile(options, { clock }) {
    const { tools = [], destructive = false } = options as {
      tools?: readonly string[];
      destructive?: boolean;
    };
    const globs = tools.map(compileGlob);
    const asks = (tool: ToolFacts): boolean =>
      globs.some((matches) => matches(qualifiedName(tool))) ||
      (destructive && tool.annotations.destructiveHint === true);
    const asked = perObject(asks);
    // An unknown tool may be destructive, so it needs permission too.
    const mustAsk = ({ method, facts }: Call): boolean => method === "tools/call" && (!facts || asked(facts));
    return {
      gates: (tool) => (asks(tool) ? "the user of the client is asked" : undefined),
      explain: (call) =>
        mustAsk(call) ? { effect: "ask", reason: "the user of the client is asked" } : undefined,
      call: (next) => (call) => {
        if (isOtherMethod(call.method) && (!call.facts || asked(call.facts)))
          return Promise.reject(notPermitted(call));
        return mustAsk(call) ? withConsent(call, { rule: 'the layer "ask"', clock }, next) : next(call);
      },
    };
  },
};
