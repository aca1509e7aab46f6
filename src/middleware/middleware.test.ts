import { ManualClock } from "../kernel/clock.ts";
import { middlewareContract } from "../kernel/middleware.contract.ts";
import { askFirst } from "./ask.ts";
import { recordExamples } from "./record-examples.ts";

const clock = new ManualClock();
const ask = ["delete_*"];
middlewareContract("consent without rules", () => askFirst(() => undefined, clock));
middlewareContract("consent for other tools", () =>
  askFirst((name) => ({ name, tools: { allow: undefined, deny: [], ask } }), clock),
);
for (const on of [false, true])
  middlewareContract(`examples ${on ? "on" : "off"}`, () =>
    recordExamples({ enabled: () => on, record: () => {} }),
  );
