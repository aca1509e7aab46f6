/** The tabs that add servers: pasted config, gallery and registry, form. */
import { Tabs } from "../../components/tabs.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddFind } from "./add-find.tsx";
import { AddForm } from "./add-form.tsx";
import { AddPaste } from "./add-paste.tsx";

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
