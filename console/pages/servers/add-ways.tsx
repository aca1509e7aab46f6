/** Ways to a new server: what a client has, the gallery and the registry, or a form. */
import { Tabs } from "../../components/tabs.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { AddFind } from "./add-find.tsx";
import { AddForm } from "./add-form.tsx";
import { AddPaste } from "./add-paste.tsx";

const texts = serverTexts.adding;
export const WAYS = ["paste", "find", "form"] as const;
export type Way = (typeof WAYS)[number];

interface AddWaysProps {
  readonly way: Way;
  readonly onWay: (way: Way) => void;
  readonly onDone: () => void;
}

export function AddWays({ way, onWay, onDone }: AddWaysProps) {
  return (
    <Tabs
      label={texts.tabsLabel}
      tabs={WAYS.map((id) => ({ id, label: texts.tabs[id] }))}
      active={way}
      onChange={(id) => onWay(id as Way)}
    >
      {way === "paste" && <AddPaste onDone={onDone} />}
      {way === "find" && <AddFind onDone={onDone} />}
      {way === "form" && <AddForm onDone={onDone} />}
    </Tabs>
  );
}
