/** The tabs that add servers: pasted config, gallery and registry, form. */

import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { faultIn } from "../../use-sending.ts";
import { AddFind } from "./add-find.tsx";
import { AddPaste } from "./add-paste.tsx";
import { AddedServers } from "./added-servers.tsx";
import type { Draft } from "./draft.ts";
import { NamespaceField, useNamespaceChoice } from "./namespace-field.tsx";
import { ServerForm, SHOWN_BY_FIELDS } from "./server-form.tsx";
import { useAddServers } from "./use-add-servers.ts";

const texts = serverTexts.adding;
export const ADD_TABS = ["paste", "find", "form"] as const;
export type AddTab = (typeof ADD_TABS)[number];

interface AddTabsProps {
  readonly tab: AddTab;
  readonly onTab: (tab: AddTab) => void;
  readonly onDone: () => void;
}

export function AddTabs({ tab, onTab, onDone }: AddTabsProps) {
  return (
    <Tabs
      label={texts.tabsLabel}
      tabs={ADD_TABS.map((id) => ({ id, label: texts.tabs[id] }))}
      active={tab}
      onChange={(id) => onTab(id as AddTab)}
    >
      {tab === "paste" && <AddPaste onDone={onDone} />}
      {tab === "find" && <AddFind onDone={onDone} />}
      {tab === "form" && <AddForm onDone={onDone} />}
    </Tabs>
  );
}

/** Adds a server with a form. */
function AddForm({ onDone }: { readonly onDone: () => void }) {
  const draft = useSignal<Draft>({ name: "", command: "" });
  const choice = useNamespaceChoice();
  const adding = useAddServers();
  if (adding.added) return <AddedServers adding={adding} onDone={onDone} />;
  const { name, ...entry } = draft.value;
  const pointer = `/mcpServers/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return (
    <Form onSubmit={() => adding.add({ [String(name)]: entry }, choice.chosen)}>
      <ServerForm
        draft={draft.value}
        onInput={(next) => (draft.value = next)}
        faultOf={(path) => faultIn(adding.problem, pointer + path)}
      />
      <NamespaceField choice={choice} />
      <Refused problem={adding.problem} shownByFields={SHOWN_BY_FIELDS.map((path) => pointer + path)} />
      <div class="line">
        <Button type="submit" kind="primary" busy={adding.busy} disabled={name === ""}>
          {serverTexts.form.create}
        </Button>
      </div>
    </Form>
  );
}
