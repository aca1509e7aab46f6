/** Runs the self-test of an endpoint, which acts as a client, and shows the result of each step. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { Endpoint, SelfTest } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Status } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { duration } from "../../format.ts";
import { Refused } from "../../shell/refused.tsx";
import { endpointsTexts } from "../../texts/endpoints.ts";
import { useSending } from "../../use-sending.ts";
import "./test-tab.css";

const texts = endpointsTexts.test;

type Step = SelfTest["steps"][number];

const COLUMNS: readonly Column<Step>[] = [
  {
    id: "step",
    head: "Step",
    width: "220px",
    cell: ({ step, ok }) => <Status state={ok ? "ok" : "bad"} word={step} />,
  },
  {
    id: "detail",
    head: "What was found",
    cell: ({ detail }) => (
      <div class="self-test-found">
        <ForeignText text={detail} />
      </div>
    ),
  },
  {
    id: "ms",
    head: "Took",
    width: "80px",
    align: "end",
    cell: ({ ms }) => (ms === undefined ? "" : duration(ms)),
  },
];

export function TestTab({ endpoint: { uuid } }: { readonly endpoint: Endpoint }) {
  const result = useSignal<SelfTest | undefined>(undefined);
  const sending = useSending();
  const run = () =>
    sending.run(async () => {
      result.value = await send("POST /endpoints/:uuid/self-test", undefined, { params: { uuid } });
    });
  return (
    <div class="stack">
      <p>{texts.text}</p>
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void run()}>
          {texts.run}
        </Button>
      </div>
      <Refused problem={sending.problem} />
      {result.value && (
        <>
          <p role="status">
            <Status state={result.value.ok ? "ok" : "bad"} word={result.value.ok ? texts.ok : texts.failed} />
          </p>
          <Table
            label={endpointsTexts.tabs.test}
            rows={result.value.steps}
            columns={COLUMNS}
            rowKey={({ step }) => step}
          />
        </>
      )}
    </div>
  );
}
