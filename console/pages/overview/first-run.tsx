/**
 * Guides a new administrator to the first call: servers, endpoint, key, client, call. A step is done as soon
 * as its result exists.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { CONFIG, STATES, useList } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { ClientConfig } from "../../parts/client-config.tsx";
import { FirstCall } from "../../parts/first-call.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { overviewTexts } from "../../texts/overview.ts";
import { EndpointStep, KeyStep, ServersStep } from "./first-steps.tsx";

const texts = overviewTexts.start;

export default function FirstRun() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const adding = useSignal(false);
  const key = useSignal<string | undefined>(undefined);
  const called = useSignal(false);
  useEffect(() => {
    // Without the parameter, the first added server would switch to the overview.
    if (address.peek().query["start"] === undefined) go("/?start=1", { replace: true });
    adding.value = servers.length === 0;
  }, []);
  const endpoint =
    endpoints.find(({ name }) => name === "default") ?? endpoints.find(({ disabled }) => !disabled);
  const isPublic = endpoint?.access.public === true;
  const done = {
    servers: servers.length > 0 && !adding.value,
    endpoint: endpoint !== undefined,
    key: key.value !== undefined || isPublic,
    call: called.value,
  };
  const step = !done.servers ? 1 : !done.endpoint ? 2 : !done.key ? 3 : 4;
  return (
    <>
      <PageHead
        title={texts.title}
        summary={texts.summary}
        actions={servers.length > 0 && <Button onClick={() => go("/")}>{texts.skip}</Button>}
      />
      <ol class="steps">
        <Step title={texts.servers.title} done={done.servers} current={step === 1}>
          <ServersStep
            servers={servers}
            adding={adding.value || servers.length === 0}
            onAdd={() => (adding.value = true)}
            onDone={() => (adding.value = false)}
          />
        </Step>
        <Step title={texts.endpoint.title} done={done.endpoint} current={step === 2}>
          {endpoint ? (
            <code>
              <ForeignText text={`${location.origin}/metamcp/${endpoint.name}/mcp`} />
            </code>
          ) : (
            step === 2 && <EndpointStep servers={servers} />
          )}
        </Step>
        <Step title={texts.key.title} done={endpoint !== undefined && done.key} current={step === 3}>
          {isPublic && <p>{texts.key.open}</p>}
          {key.value && <p>{texts.key.done}</p>}
          {(step === 3 || key.value === "") && endpoint && (
            <KeyStep endpoint={endpoint} hasOne={key.value === ""} onMade={(made) => (key.value = made)} />
          )}
        </Step>
        <Step title={texts.paste.title} done={called.value} current={step === 4}>
          {step === 4 && endpoint && (
            <ClientConfig endpoint={endpoint.uuid} apiKey={key.value || undefined} />
          )}
        </Step>
        <Step title={texts.call.title} done={called.value} current={step === 4}>
          {step === 4 && endpoint && (
            <FirstCall endpoint={endpoint} onCall={() => (called.value = true)}>
              <div class="line">
                <Button kind="primary" onClick={() => go("/")}>
                  {texts.call.finish}
                </Button>
              </div>
            </FirstCall>
          )}
        </Step>
      </ol>
    </>
  );
}

interface StepProps {
  readonly title: string;
  readonly done: boolean;
  /** The step to do next. */
  readonly current: boolean;
  readonly children: ComponentChildren;
}

function Step({ title, done, current, children }: StepProps) {
  return (
    <li
      class={`panel step ${done ? "step-done" : current ? "step-now" : "step-later"}`}
      aria-current={current && !done ? "step" : undefined}
    >
      <span class="step-mark" aria-hidden="true" />
      <div class="step-body">
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  );
}
