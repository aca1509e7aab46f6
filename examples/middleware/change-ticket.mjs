// A custom layer: tools that change something need an argument with a ticket number, and are not available
// while changes are frozen. { "use": "./change-ticket.mjs", "prefix": "OPS-", "frozen": ["production"] }

const isChange = ({ annotations }) => annotations.readOnlyHint !== true;

export default {
  // JSON Schema of the options. Unknown options are refused when the entry is saved.
  schema: {
    properties: {
      prefix: { type: "string", minLength: 1, description: "prefix that ticket numbers must start with" },
      argument: {
        type: "string",
        minLength: 1,
        default: "ticket",
        description: "name of the argument that holds the ticket number",
      },
      frozen: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "labels of servers where changes are frozen",
      },
    },
    required: ["prefix"],
  },
  // The layer restricts access: editors cannot change it, and no cache may answer before it.
  guards: true,

  compile({ prefix, argument, frozen }, { MetaMcpError, fromRaw, members, withMember }) {
    const isFrozen = (tool) => isChange(tool) && tool.labels.some((label) => frozen.includes(label));
    const hasTicket = ({ params }) => {
      const ticket = fromRaw(params).arguments?.[argument];
      return typeof ticket === "string" && ticket.startsWith(prefix);
    };
    // Payloads are bytes. All other members stay exactly as received, e.g. numbers of any length.
    const withoutTicket = ({ params }) => {
      const [args] = members(params, ["arguments"]);
      return withMember(params, "arguments", withMember(args, argument, undefined));
    };
    const missing = `name the ticket: the argument "${argument}" begins with ${prefix}`;
    return {
      // Lists: called for each tool. A hidden tool appears in no list, search result or hint.
      list: { hides: (tool) => (isFrozen(tool) ? "changes are frozen" : undefined) },

      // Calls: every call to a server, from any surface, code run or chain.
      call: (next) => (call) => {
        if (call.method !== "tools/call" || !isChange(call.facts)) return next(call);
        if (isFrozen(call.facts))
          throw new MetaMcpError("tool_not_found", "No tool of that name is available here.");
        if (!hasTicket(call)) throw new MetaMcpError("forbidden", missing);
        // The server does not know the argument.
        return next({ ...call, params: withoutTicket(call) });
      },

      // Requests: every request of a client, including calls of MetaMCP's own tools. While changes are frozen
      // no code may run.
      request: (next) => (request) => {
        if (frozen.length > 0 && request.own?.name === "mcp_execute")
          throw new MetaMcpError("forbidden", "no code is run while changes are frozen");
        return next(request);
      },

      // For the console and `metamcp gateway explain`.
      gates: (tool) => (isChange(tool) ? missing : undefined),
      explain: (call) =>
        isChange(call.facts) && (isFrozen(call.facts) || !hasTicket(call))
          ? { effect: "deny", reason: isFrozen(call.facts) ? "changes are frozen" : missing }
          : undefined,
    };
  },
};
