/** Tries one tool of an endpoint: its form, the call, and the explanation of what would happen. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { send } from "../../api/client.ts";
import type { Endpoint, Explanation, ToolRow } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Form } from "../../components/form.tsx";
import { checkForm, type FormValue, formJson, SchemaForm, startForm } from "../../components/schema-form.tsx";
import { Status } from "../../components/status.tsx";
import { STATES, useResource } from "../../live/resource.ts";
import { keptArguments } from "../../parts/repeated-call.ts";
import { Ready } from "../../shell/ready.tsx";
import { Refused } from "../../shell/refused.tsx";
import { tryTexts as texts } from "../../texts/try.ts";
import { useSending } from "../../use-sending.ts";
import { pageIn } from "./app-page.ts";
import { CallView } from "./call-view.tsx";
import { ExplanationView } from "./explanation-view.tsx";
import { useTry } from "./use-try.ts";

interface ToolTryProps {
  readonly endpoint: Pick<Endpoint, "uuid">;
  readonly row: ToolRow;
  readonly as: string | undefined;
  /** Name of the server. */
  readonly server: string;
}

export function ToolTry(props: ToolTryProps) {
  const { endpoint, row, as, server } = props;
  const params = { uuid: endpoint.uuid, server: row.server, tool: row.tool, as };
  const detail = useResource("/endpoints/:uuid/tools/:server/:tool", params, STATES);
  return (
    <div class="stack">
      <div class="stack-small try-head">
        <h2 class="mono">
          <ForeignText text={`${server}:${row.name}`} />
        </h2>
        <p class="muted">
          <ForeignText text={row.description ?? ""} />
        </p>
        {row.because && (
          <Status
            state={row.enabled ? "warn" : "off"}
            word={row.enabled ? texts.gated : texts.isOff}
            reason={row.because}
          />
        )}
      </div>
      <Ready of={detail}>
        {({ definition }) => {
          const { inputSchema = {} } = (definition ?? {}) as { readonly inputSchema?: unknown };
          return <TryForm {...props} schema={inputSchema} page={pageIn(definition)} />;
        }}
      </Ready>
    </div>
  );
}

interface TryFormProps extends ToolTryProps {
  readonly schema: unknown;
  /** URI of the page that the tool names. */
  readonly page: string | undefined;
}

function TryForm({ endpoint, row, as, server, schema, page }: TryFormProps) {
  const kept = keptArguments(`${row.server}:${row.tool}`);
  const form = useSignal<FormValue>(startForm(schema, kept));
  const checked = useSignal(false);
  const explanation = useSignal<Explanation | undefined>(undefined);
  const sending = useSending();
  const call = useTry();
  // Leaving the page cancels the call.
  useEffect(() => call.cancel, []);
  // What the call does is below the form, and may be out of sight, when it begins and when it has a result.
  const result = useRef<HTMLDivElement>(null);
  const begun = useRef(false);
  useEffect(() => {
    begun.current ||= call.running.value;
    if (begun.current) result.current?.scrollIntoView({ block: "nearest" });
  }, [call.running.value]);
  const problems = checked.value ? checkForm(schema, form.value) : [];
  const run = () => {
    checked.value = true;
    explanation.value = undefined;
    const args = formJson(form.value);
    if (args === undefined || checkForm(schema, form.value).length > 0) return;
    call.start({ endpoint: endpoint.uuid, server: row.server, tool: row.name, as, args });
  };
  const explain = () =>
    sending.run(async () => {
      const args = JSON.parse(formJson(form.value) ?? "{}") as Readonly<Record<string, unknown>>;
      const body = { tool: `${server}:${row.name}`, args, ...(as && { as }) };
      explanation.value = await send("POST /endpoints/:uuid/explain", body, {
        params: { uuid: endpoint.uuid },
      });
    });
  return (
    <Form onSubmit={run} checksItself>
      {kept !== undefined && <p class="muted">{texts.repeated}</p>}
      <div class="panel padded">
        <SchemaForm
          schema={schema}
          value={form.value}
          problems={problems}
          onInput={(value) => (form.value = value)}
        />
      </div>
      <div class="line">
        <Button type="submit" kind="primary" busy={call.running.value}>
          {texts.call}
        </Button>
        {call.running.value && <Button onClick={call.cancel}>{texts.cancel}</Button>}
        <Button busy={sending.busy} onClick={() => void explain()}>
          {row.enabled ? texts.explain : texts.why}
        </Button>
      </div>
      <Refused problem={sending.problem} />
      {explanation.value && <ExplanationView explanation={explanation.value} />}
      <div ref={result} class="try-answer">
        <CallView
          call={call}
          endpoint={endpoint.uuid}
          // A page is read as oneself.
          page={page && !as ? { endpoint: endpoint.uuid, server: row.server, uri: page } : undefined}
        />
      </div>
    </Form>
  );
}
