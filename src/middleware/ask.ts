/**
 * Asks the person at the client for permission before calls of tools under `tools.ask`. The rule belongs to
 * the entry of the server, not to a pipeline: it applies wherever the server is used, inside all layers.
 */
import { mustAsk } from "../config/glob.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Middleware, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { isOtherMethod } from "../kernel/methods.ts";
import { scalarOf } from "../kernel/raw.ts";
import { member } from "../rpc/slice.ts";
import { withConsent } from "./consent.ts";
import { notPermitted } from "./refusals.ts";

type AskRules = Pick<ServerSpec, "name" | "tools">;

export function askFirst(specOf: (server: ServerId) => AskRules | undefined, clock: Clock): Middleware {
  return (next) =>
    function askFirst(call) {
      const spec = specOf(call.server);
      if (!spec || spec.tools.ask.length === 0) return next(call);
      if (isOtherMethod(call.method) && mustAsk(spec.tools, call.method))
        return Promise.reject(notPermitted(call));
      if (call.method !== "tools/call") return next(call);
      const name = member(call.params, "name");
      const tool = call.tool ?? String(scalarOf(name));
      if (!mustAsk(spec.tools, tool)) return next(call);
      const facts = { labels: [], annotations: {}, ...call.facts, server: spec.name, name: tool };
      const rule = "tools.ask in the config";
      return withConsent({ ...call, facts }, { rule, clock }, () => next(call));
    };
}
