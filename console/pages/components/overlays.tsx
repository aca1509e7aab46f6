/** Samples: dialogs, drawers, toasts, tabs. */
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Status } from "../../components/status.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { toast } from "../../components/toasts.tsx";
import { State } from "./state.tsx";

export function Overlays() {
  const [open, setOpen] = useState<"dialog" | "drawer">();
  const close = () => setOpen(undefined);
  return (
    <State name="Dialog, drawer, messages">
      <div class="line">
        <Button onClick={() => setOpen("dialog")}>Open dialog</Button>
        <Button onClick={() => setOpen("drawer")}>Open drawer</Button>
        <Button
          onClick={() =>
            toast({ text: "Server github updated.", undo: () => toast({ text: "Rolled back." }) })
          }
        >
          Say done
        </Button>
        <Button
          onClick={() =>
            toast({ kind: "failed", text: "Not saved: somebody else changed github meanwhile." })
          }
        >
          Say failed
        </Button>
      </div>
      <Dialog
        open={open === "dialog"}
        title="Delete server github?"
        onClose={close}
        actions={
          <>
            <Button onClick={close} autofocus>
              Keep it
            </Button>
            <Button kind="danger" onClick={close}>
              Delete server
            </Button>
          </>
        }
      >
        <p>
          41 tools disappear from the namespaces <code>dev</code> and <code>shared</code>; 7 connected clients
          are notified. You can undo this on the page History.
        </p>
      </Dialog>
      {open === "drawer" && (
        <Drawer
          title="github"
          titleMono
          subtitle={<Status state="bad" word="Failed" reason="token expired, 4 min ago" />}
          actions={<Button kind="primary">Log in</Button>}
          onClose={close}
        >
          <TabSample />
        </Drawer>
      )}
    </State>
  );
}

export function TabSample() {
  const [active, setActive] = useState("about");
  return (
    <Tabs
      label="Parts of the server"
      tabs={[
        { id: "about", label: "About" },
        { id: "tools", label: "Tools", count: 41 },
        { id: "log", label: "Log" },
      ]}
      active={active}
      onChange={setActive}
    >
      <KeyValues
        items={[
          { key: "Shown", value: active },
          { key: "Transport", value: "stdio" },
        ]}
      />
    </Tabs>
  );
}
