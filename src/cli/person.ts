/**
 * The user of the command line as a client of the engine. Elicitations are asked at the terminal, and refused
 * without one.
 */

import type { Origin } from "../kernel/call.ts";
import { LOCAL } from "../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { Sequencer } from "../kernel/sequencer.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { canAsk } from "./confirm.ts";
import type { ElicitResult } from "./elicit.ts";
import { printError } from "./print.ts";
import { readable } from "./readable.ts";
import { pauseSpinner } from "./spinner.ts";
import { wrap } from "./wrap.ts";

export const person: Origin = {
  ...LOCAL,
  session: "command-line",
  // Also without a terminal, so that the tool lists do not depend on it. Questions are then refused below.
  capabilities: toRaw({ elicitation: { form: {}, url: {} } }),
  uplink: {
    // Progress is dropped.
    notify: () => {},
    async request(method, params) {
      const asks = method === "elicitation/create";
      if (asks && canAsk) return toRaw(await askInTurn(params));
      const reason = asks
        ? `there is no terminal to ask on, so this question was not answered: ${questionIn(params)}`
        : `${method} cannot be answered on the command line`;
      printError(wrap(`metamcp: ${reason}`, process.stderr.columns));
      throw RpcError.of(METHOD_NOT_FOUND, reason);
    },
  },
};

function questionIn(params: Raw | undefined): string {
  const { message } = (params ? fromRaw(params) : {}) as { message?: unknown };
  return readable(typeof message === "string" ? message : "");
}

/** Calls at the same time share one terminal. */
const questions = new Sequencer();

function askInTurn(params: Raw | undefined): Promise<ElicitResult> {
  return questions.run(() => askAtTerminal(params));
}

async function askAtTerminal(params: Raw | undefined): Promise<ElicitResult> {
  const resumeSpinner = pauseSpinner();
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
    resumeSpinner();
  }
}
