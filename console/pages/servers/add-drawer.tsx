/** The drawer that adds servers. */
import { Drawer } from "../../components/drawer.tsx";
import { setQuery } from "../../navigate.ts";
import { serverTexts } from "../../texts/servers.ts";
import { ADD_TABS, AddTabs } from "./add-tabs.tsx";

export function AddDrawer({ tab, onClose }: { readonly tab: string; readonly onClose: () => void }) {
  const active = ADD_TABS.find((one) => one === tab) ?? "paste";
  return (
    <Drawer title={serverTexts.adding.title} onClose={onClose}>
      <AddTabs tab={active} onTab={(add) => setQuery({ add })} onDone={onClose} />
    </Drawer>
  );
}
