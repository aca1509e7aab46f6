/** Whoever types a command, as the engine sees them: a client that can be asked. Without a terminal it says that nobody is there. */
import type { Origin } from "../kernel/call.ts";
import { LOCAL } from "../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { canAsk } from "./confirm.ts";
import type { Elicited } from "./elicit.ts";
import { readable } from "./readable.ts";
import { hushSpinner } from "./spinner.ts";
import { wrap } from "./wrap.ts";

export const person: Origin = {
  ...LOCAL,
  session: "command-line",
  // Also without a terminal: a tool must not come and go with it, and a question that nobody answers is refused below.
  capabilities: toRaw({ elicitation: { form: {}, url: {} } }),
  uplink: {
    // Progress is dropped.
    notify: () => {},
    async request(method, params) {
      const asks = method === "elicitation/create";
      if (asks && canAsk) return toRaw(await inTurn(params));
      const reason = asks
        ? `there is no terminal to ask on, so this question was not answered: ${questionIn(params)}`
        : `${method} cannot be answered on the command line`;
      process.stderr.write(`${wrap(`metamcp: ${reason}`, process.stderr.columns)}\n`);
      throw RpcError.of(METHOD_NOT_FOUND, reason);
    },
  },
};

function questionIn(params: Raw | undefined): string {
  const { message } = (params ? fromRaw(params) : {}) as { message?: unknown };
  return readable(typeof message === "string" ? message : "");
}

/** There is one terminal: of several calls under way each waits for the questions of the others. */
let last: Promise<unknown> = Promise.resolve();

function inTurn(params: Raw | undefined): Promise<Elicited> {
  const answer = last.then(async () => await atTheTerminal(params));
  last = answer.catch(() => undefined);
  return answer;
}

async function atTheTerminal(params: Raw | undefined): Promise<Elicited> {
  const goOn = hushSpinner();
  const [{ elicit }, { openTerminal }, { openBrowser }] = await Promise.all([
    import("./elicit.ts"),
    import("./terminal.ts"),
    import("./browser.ts"),
  ]);
  const terminal = openTerminal();
  try {
    return await elicit(params, terminal, openBrowser);
  } finally {
    terminal.close();
    goOn();
  }
}
