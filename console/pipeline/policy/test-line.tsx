/** A line to try a call against the rules as they stand in the form, and to keep it as a policy test. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { PolicyResult } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { Form } from "../../components/form.tsx";
import { SelectField } from "../../components/select-field.tsx";
import { Status } from "../../components/status.tsx";
import { TextField } from "../../components/text-field.tsx";
import { toast } from "../../components/toasts.tsx";
import { CONFIG, refresh, useList } from "../../live/resource.ts";
import { Refused } from "../../shell/refused.tsx";
import { policyTexts } from "../../texts/policy.ts";
import { useSending } from "../../use-sending.ts";
import type { LayerEntry, Place } from "../layer-entry.ts";
import { objectIn } from "./rule-fields.tsx";
import { useNames } from "./use-names.ts";

const texts = policyTexts.test;
const STATES = { allow: "ok", deny: "bad", ask: "warn", unknown: "off" } as const;

interface TestLineProps {
  readonly place: Place;
  /** The layers as they stand in the form. */
  readonly middleware: readonly LayerEntry[];
}

export function TestLine({ place, middleware }: TestLineProps) {
  const names = useNames();
  const endpoints = useList("/endpoints", {}, CONFIG).value.value ?? [];
  const fields = useSignal({ as: "", tool: "", args: "", endpoint: "" });
  const result = useSignal<PolicyResult | undefined>(undefined);
  const sending = useSending();
  const { as, tool, args, endpoint } = fields.value;
  const chosen = place.kind === "endpoint" ? (place.uuid ?? "") : endpoint || (endpoints[0]?.uuid ?? "");
  const set = (change: Partial<typeof fields.value>) => {
    fields.value = { ...fields.value, ...change };
    result.value = undefined;
  };
  const given = args.trim() === "" ? undefined : objectIn(args);
  const invalid = args.trim() !== "" && given === undefined;
  const call = { endpoint: chosen, as: as.trim(), tool: tool.trim(), ...(given && { args: given }) };
  const run = () =>
    sending.run(async () => {
      const draft = { at: place, middleware: middleware as never };
      result.value = await send("POST /policy-tests/try", { ...call, draft });
    });
  const people = [
    ...names.users,
    ...names.groups.map((group) => `group:${group}`),
    ...names.roles.map((role) => `role:${role}`),
    ...names.keys.map((key) => `key:${key}`),
  ];
  return (
    <section class="panel padded stack-small">
      <h3>{texts.title}</h3>
      <p class="muted small">{texts.text}</p>
      <Form onSubmit={run}>
        <div class="policy-try">
          <TextField
            label={texts.may}
            required
            mono
            value={as}
            suggestions={people}
            onInput={(value) => set({ as: value })}
          />
          <TextField
            label={texts.call}
            required
            mono
            value={tool}
            suggestions={names.tools.filter((name) => !name.endsWith(":*"))}
            onInput={(value) => set({ tool: value })}
          />
          {place.kind !== "endpoint" && (
            <SelectField
              label={texts.at}
              value={chosen}
              options={endpoints.map(({ uuid, name }) => ({ value: uuid, label: name }))}
              onInput={(value) => set({ endpoint: value })}
            />
          )}
          <TextField
            label={texts.with}
            optional
            mono
            placeholder={'{"id": 1}'}
            value={args}
            error={invalid ? policyTexts.notJson : undefined}
            onInput={(value) => set({ args: value })}
          />
          <Button type="submit" busy={sending.busy} disabled={invalid}>
            {texts.run}
          </Button>
        </div>
        <Refused problem={sending.problem} />
      </Form>
      <div role="status" class="stack-small">
        {result.value && (
          <>
            <Status
              state={STATES[result.value.got]}
              word={texts.results[result.value.got]}
              reason={result.value.by}
            />
            {result.value.got !== "unknown" && <Keep call={call} got={result.value.got} />}
          </>
        )}
      </div>
    </section>
  );
}

interface KeepProps {
  readonly call: {
    readonly endpoint: string;
    readonly as: string;
    readonly tool: string;
    readonly args?: Readonly<Record<string, unknown>>;
  };
  readonly got: "allow" | "deny" | "ask";
}

/** Keeps the call as a test that expects what it gets. The rules must be saved first. */
function Keep({ call, got }: KeepProps) {
  const name = useSignal(
    `${call.as} ${got === "deny" ? "may not call" : "may call"} ${call.tool}`.replaceAll("/", "-"),
  );
  const sending = useSending();
  const keep = () =>
    sending.run(async () => {
      const tests = { [name.value]: { ...call, expect: got } };
      await send("PATCH /settings", { tests } as never);
      refresh("/settings");
      refresh("/policy-tests");
      toast({ text: texts.kept(name.value) });
    });
  return (
    <Form onSubmit={keep}>
      <div class="policy-try">
        <TextField
          label={texts.name}
          hint={<ForeignText text={texts.keptNow(got)} />}
          required
          value={name.value}
          onInput={(value) => (name.value = value)}
        />
        <Button type="submit" busy={sending.busy}>
          {texts.keep}
        </Button>
      </div>
      <Refused problem={sending.problem} />
    </Form>
  );
}
