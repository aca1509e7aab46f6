/** Edits the webhooks that are told what waits for people, tries them, and shows what was not sent. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import { send } from "../../api/client.ts";
import type { Settings } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Status } from "../../components/status.tsx";
import { SwitchField } from "../../components/switch-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { refresh, useResource } from "../../live/resource.ts";
import { settingsTexts } from "../../texts/settings.ts";
import { useSending } from "../../use-sending.ts";

const texts = settingsTexts.webhooks;

type Webhook = NonNullable<Settings["notify"]>[number];
type Event = Webhook["events"][number];
const EVENTS = Object.keys(texts.events) as readonly Event[];

interface WebhooksProps {
  readonly value: readonly Webhook[];
  /** The names that are saved, which can be tried. */
  readonly saved: readonly string[];
  readonly faultOf: (path: string) => string | undefined;
  readonly onInput: (value: readonly Webhook[]) => void;
}

export function Webhooks({ value, saved, faultOf, onInput }: WebhooksProps) {
  return (
    <>
      <p class="muted">{texts.text}</p>
      {value.map((webhook, at) => (
        <fieldset key={at} class="panel padded stack-small">
          <legend class="for-screen-readers">{texts.one(at + 1)}</legend>
          <WebhookFields
            webhook={webhook}
            faultOf={(field) => faultOf(`/${at}/${field}`)}
            onInput={(one) => onInput(value.map((other, index) => (index === at ? one : other)))}
          />
          <div class="line">
            {saved.includes(webhook.name) && <TryWebhook name={webhook.name} />}
            <Button size="small" onClick={() => onInput(value.filter((_, index) => index !== at))}>
              {texts.remove}
            </Button>
          </div>
        </fieldset>
      ))}
      <div class="line">
        <Button
          onClick={() =>
            onInput([
              ...value,
              { name: "", url: "", events: ["approval.waiting"], format: "json", allowPrivate: false },
            ])
          }
        >
          {texts.add}
        </Button>
      </div>
      {saved.length > 0 && <Deliveries />}
    </>
  );
}

interface FieldsProps {
  readonly webhook: Webhook;
  readonly faultOf: (field: string) => string | undefined;
  readonly onInput: (webhook: Webhook) => void;
}

function WebhookFields({ webhook, faultOf, onInput }: FieldsProps) {
  const set = (change: Partial<Webhook>) => onInput({ ...webhook, ...change });
  return (
    <>
      <TextField
        label={texts.name}
        required
        value={webhook.name}
        error={faultOf("name")}
        onInput={(name) => set({ name })}
      />
      <TextField
        label={texts.url}
        hint={texts.urlHint}
        required
        mono
        value={webhook.url}
        error={faultOf("url")}
        onInput={(url) => set({ url })}
      />
      <SelectField
        label={texts.format}
        value={webhook.format}
        options={Object.entries(texts.formats).map(([name, label]) => ({ value: name, label }))}
        onInput={(format) => set({ format: format as Webhook["format"] })}
      />
      <fieldset class="stack-small">
        <legend class="field-label">{texts.eventsLabel}</legend>
        {EVENTS.map((event) => (
          <SwitchField
            key={event}
            label={texts.events[event]}
            value={webhook.events.includes(event)}
            onInput={(on) =>
              set({ events: EVENTS.filter((one) => (one === event ? on : webhook.events.includes(one))) })
            }
          />
        ))}
      </fieldset>
      <TextField
        label={texts.secret}
        hint={texts.secretHint}
        optional
        type="password"
        autocomplete="new-password"
        value={webhook.secret ?? ""}
        error={faultOf("secret")}
        onInput={(secret) => {
          const { secret: _, ...rest } = webhook;
          onInput(secret === "" ? rest : { ...rest, secret });
        }}
      />
      <SwitchField
        label={texts.allowPrivate}
        hint={texts.allowPrivateHint}
        value={webhook.allowPrivate}
        onInput={(allowPrivate) => set({ allowPrivate })}
      />
    </>
  );
}

function TryWebhook({ name }: { readonly name: string }) {
  const sending = useSending();
  const result = useSignal<{ readonly sent: boolean; readonly reason?: string } | undefined>(undefined);
  const run = () =>
    sending.run(async () => {
      result.value = await send("POST /notify/:name/try", undefined, { params: { name } });
    });
  return (
    <>
      <Button size="small" busy={sending.busy} onClick={() => void run()}>
        {texts.try}
      </Button>
      <span role="status">
        {result.value && (
          <Status
            state={result.value.sent ? "ok" : "bad"}
            word={result.value.sent ? texts.sent : texts.notSent}
            reason={result.value.reason}
          />
        )}
        {sending.problem && <Status state="bad" word={texts.notSent} reason={sending.problem.message} />}
      </span>
    </>
  );
}

const STATES = { waiting: "warn", sent: "ok", failed: "bad" } as const;
const SHOWN = 10;

function Deliveries() {
  const items = useResource("/notify", {}, { everyMs: 15_000 }).value.value?.items ?? [];
  if (items.length === 0) return null;
  return (
    <div class="stack-small">
      <div class="line">
        <h3>{texts.deliveries}</h3>
        <Button size="small" onClick={() => refresh("/notify")}>
          {texts.reload}
        </Button>
      </div>
      <ul class="stack-small">
        {items.slice(0, SHOWN).map((one) => (
          <li key={`${one.webhook} ${one.at} ${one.text}`}>
            <Status
              state={STATES[one.state]}
              word={texts.states[one.state]}
              reason={`${one.webhook}: ${one.text}${one.reason === undefined ? "" : ` (${one.reason})`}`}
            />{" "}
            <Ago at={one.at} />
          </li>
        ))}
      </ul>
    </div>
  );
}
