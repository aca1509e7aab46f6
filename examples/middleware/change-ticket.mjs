// A layer of one's own: whoever changes something names the ticket that asks for it, and while changes are frozen nobody does.
// { "use": "./change-ticket.mjs", "prefix": "OPS-", "frozen": ["production"] }

const isChange = ({ annotations }) => annotations.readOnlyHint !== true;

export default {
  // JSON Schema of the options. Whatever is not in it is refused when the entry is saved.
  schema: {
    properties: {
      prefix: { type: "string", minLength: 1, description: "how tickets begin" },
      argument: {
        type: "string",
        minLength: 1,
        default: "ticket",
        description: "what the argument is called",
      },
      frozen: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "labels of servers that nobody changes now",
      },
    },
    required: ["prefix"],
  },
  // It decides who may do something: editors may not touch it, and no cache answers in front of it.
  guards: true,

  compile({ prefix, argument, frozen }, { MetaMcpError, fromRaw, members, withMember }) {
    const isFrozen = (tool) => isChange(tool) && tool.labels.some((label) => frozen.includes(label));
    const hasTicket = ({ params }) => {
      const ticket = fromRaw(params).arguments?.[argument];
      return typeof ticket === "string" && ticket.startsWith(prefix);
    };
    // Payloads are bytes: what is not touched arrives as it was written, numbers of any length included.
    const withoutTicket = ({ params }) => {
      const [args] = members(params, ["arguments"]);
      return withMember(params, "arguments", withMember(args, argument, undefined));
    };
    const missing = `name the ticket: the argument "${argument}" begins with ${prefix}`;
    return {
      // Lists: one tool at a time. What is hidden here exists for nobody, in no list, search or hint.
      list: { hides: (tool) => (isFrozen(tool) ? "changes are frozen" : undefined) },

      // Calls: whatever goes to a server, from whichever surface, code or chain.
      call: (next) => (call) => {
        if (call.method !== "tools/call" || !isChange(call.facts)) return next(call);
        if (isFrozen(call.facts))
          throw new MetaMcpError("tool_not_found", "No tool of that name is available here.");
        if (!hasTicket(call)) throw new MetaMcpError("forbidden", missing);
        // The server knows nothing of tickets.
        return next({ ...call, params: withoutTicket(call) });
      },

      // Requests: what a client asks of us, our own tools included. While something is frozen no code is run.
      request: (next) => (request) => {
        if (frozen.length > 0 && request.own?.name === "mcp_execute")
          throw new MetaMcpError("forbidden", "no code is run while changes are frozen");
        return next(request);
      },

      // What the console and `metamcp gateway explain` tell.
      gates: (tool) => (isChange(tool) ? missing : undefined),
      explain: (call) =>
        isChange(call.facts) && (isFrozen(call.facts) || !hasTicket(call))
          ? { effect: "deny", reason: isFrozen(call.facts) ? "changes are frozen" : missing }
          : undefined,
    };
  },
};
