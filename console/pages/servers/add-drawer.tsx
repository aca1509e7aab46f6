/** Adding servers, beside the list. */
import { Drawer } from "../../components/drawer.tsx";
import { setQuery } from "../../navigate.ts";
import { serverTexts } from "../../texts/servers.ts";
import { AddWays, WAYS } from "./add-ways.tsx";

export function AddDrawer({ way, onClose }: { readonly way: string; readonly onClose: () => void }) {
  const active = WAYS.find((one) => one === way) ?? "paste";
  return (
    <Drawer title={serverTexts.adding.title} onClose={onClose}>
      <AddWays way={active} onWay={(add) => setQuery({ add })} onDone={onClose} />
    </Drawer>
  );
}
