/** From nothing to a first call: servers, an endpoint, a key, a client, and then the call itself. Each step is done when its result is there. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { CONFIG, STATES, useList } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { ClientConfig } from "../../parts/client-config.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { overviewTexts } from "../../texts/overview.ts";
import { FirstCall } from "./first-call.tsx";
import { EndpointStep, KeyStep, ServersStep } from "./first-steps.tsx";

const texts = overviewTexts.start;

export default function FirstRun() {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const adding = useSignal(false);
  const key = useSignal<string | undefined>(undefined);
  const called = useSignal(false);
  useEffect(() => {
    // What is added must not end it.
    if (address.peek().query["start"] === undefined) go("/?start=1", { replace: true });
    adding.value = servers.length === 0;
  }, []);
  const endpoint =
    endpoints.find(({ name }) => name === "default") ?? endpoints.find(({ disabled }) => !disabled);
  const open = endpoint?.access.public === true;
  const done = {
    servers: servers.length > 0 && !adding.value,
    endpoint: endpoint !== undefined,
    key: key.value !== undefined || open,
    call: called.value,
  };
  const now = !done.servers ? 1 : !done.endpoint ? 2 : !done.key ? 3 : 4;
  return (
    <>
      <PageHead
        title={texts.title}
        answer={texts.answer}
        actions={servers.length > 0 && <Button onClick={() => go("/")}>{texts.skip}</Button>}
      />
      <ol class="steps">
        <Step title={texts.servers.title} done={done.servers} now={now === 1}>
          <ServersStep
            servers={servers}
            adding={adding.value || servers.length === 0}
            onAdd={() => (adding.value = true)}
            onDone={() => (adding.value = false)}
          />
        </Step>
        <Step title={texts.endpoint.title} done={done.endpoint} now={now === 2}>
          {endpoint ? (
            <code>
              <ForeignText text={`${location.origin}/metamcp/${endpoint.name}/mcp`} />
            </code>
          ) : (
            now === 2 && <EndpointStep servers={servers} />
          )}
        </Step>
        <Step title={texts.key.title} done={endpoint !== undefined && done.key} now={now === 3}>
          {open && <p>{texts.key.open}</p>}
          {key.value !== undefined && <p>{texts.key.done}</p>}
          {now === 3 && endpoint && <KeyStep endpoint={endpoint} onMade={(made) => (key.value = made)} />}
        </Step>
        <Step title={texts.paste.title} done={called.value} now={now === 4}>
          {now === 4 && endpoint && <ClientConfig endpoint={endpoint.uuid} apiKey={key.value} />}
        </Step>
        <Step title={texts.call.title} done={called.value} now={now === 4}>
          {now === 4 && endpoint && <FirstCall endpoint={endpoint} onCall={() => (called.value = true)} />}
        </Step>
      </ol>
    </>
  );
}

interface StepProps {
  readonly title: string;
  readonly done: boolean;
  readonly now: boolean;
  readonly children: ComponentChildren;
}

function Step({ title, done, now, children }: StepProps) {
  return (
    <li
      class={`panel step ${done ? "step-done" : now ? "step-now" : "step-later"}`}
      aria-current={now && !done ? "step" : undefined}
    >
      <span class="step-mark" aria-hidden="true" />
      <div class="step-body">
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  );
}
