/** The policy tests of the gateway with their results on the current config. */
import { send } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { CONFIG, refresh, useResource } from "../../live/resource.ts";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { policyTexts } from "../../texts/policy.ts";
import { shellTexts } from "../../texts/shell.ts";
import { toastWithUndo } from "../../undo.ts";
import { useSending } from "../../use-sending.ts";

const texts = policyTexts.tests;
const STATES = { passed: "ok", failed: "bad", unknown: "off" } as const;

export function PolicyTests() {
  const tests = useResource("/policy-tests", {}, CONFIG);
  const sending = useSending();
  const remove = (name: string) =>
    sending.run(async () => {
      await send("PATCH /settings", { tests: { [name]: null } } as never);
      refresh("/settings");
      refresh("/policy-tests");
      await toastWithUndo(texts.removed(name));
    });
  return (
    <Ready of={tests}>
      {({ tests: all }) => {
        if (all.length === 0) return <p class="muted">{texts.none}</p>;
        const passed = all.filter(({ state }) => state === "passed").length;
        return (
          <div class="stack-small">
            <p class="muted">
              {texts.all(passed, all.length)} {texts.text}
            </p>
            <ul class="policy-rules">
              {all.map(({ name, as, tool, endpoint, state, got, by, expect }) => (
                <li key={name} class={`policy-rule policy-${expect}`} aria-label={name}>
                  <div class="policy-line">
                    <p class="policy-sentence">
                      <strong>
                        <ForeignText text={name} />
                      </strong>{" "}
                      <span class="muted">
                        <ForeignText text={texts.expects(as, tool, endpoint)} />:{" "}
                        {policyTexts.matrix.effects[expect]}
                      </span>
                    </p>
                    <Button
                      size="small"
                      label={shellTexts.order.remove(name)}
                      onClick={() => void remove(name)}
                    >
                      {texts.remove}
                    </Button>
                  </div>
                  <Status
                    state={STATES[state]}
                    word={texts.states[state]}
                    reason={
                      state === "passed" ? by : `${policyTexts.test.results[got]}${by ? `: ${by}` : ""}`
                    }
                  />
                </li>
              ))}
            </ul>
            <Refused problem={sending.problem} />
          </div>
        );
      }}
    </Ready>
  );
}
