/** Samples: buttons, states, values, menus. */
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { CopyLine } from "../../components/empty-state.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { Menu } from "../../components/menu.tsx";
import { Status } from "../../components/status.tsx";
import { HOSTILE } from "./hostile.ts";
import { State } from "./state.tsx";

export function Buttons() {
  return (
    <>
      <State name="Kinds">
        <div class="line">
          <Button kind="primary">Add server</Button>
          <Button>Restart</Button>
          <Button kind="quiet">Cancel</Button>
          <Button kind="danger">Delete server</Button>
          <Button href="/servers">Open servers</Button>
        </div>
      </State>
      <State name="Small">
        <div class="line">
          <Button size="small" kind="primary">
            Log in
          </Button>
          <Button size="small">Log</Button>
          <Button size="small" kind="quiet">
            Dismiss
          </Button>
          <Button size="small" kind="danger">
            Revoke key
          </Button>
          <CopyButton text="https://gateway.example.com/dev/mcp" />
        </div>
      </State>
      <State name="Busy, disabled, pressed">
        <div class="line">
          <Button kind="primary" busy>
            Saving
          </Button>
          <Button busy>Restarting</Button>
          <Button kind="primary" disabled>
            Save
          </Button>
          <Button disabled>Restart</Button>
          <Button pressed>Wrap lines</Button>
        </div>
      </State>
    </>
  );
}

export function Menus() {
  return (
    <State name="Opens when pressed">
      <div class="line">
        <Menu
          items={[
            { label: "Restart" },
            { label: "Copy address", hint: "https://gateway.example.com/dev/mcp" },
            { label: "Open log", href: "/servers" },
            "line",
            { label: "Log in", disabled: true, hint: "This server needs no login" },
            { label: "Delete server", danger: true },
          ]}
        >
          Actions
        </Menu>
        <Menu
          kind="quiet"
          items={[
            { label: "System", checked: true },
            { label: "Light", checked: false },
            { label: "Dark", checked: false },
          ]}
        >
          Theme
        </Menu>
        <Menu size="small" label="More for github" items={[{ label: "Restart" }, { label: "Open log" }]}>
          More
        </Menu>
      </div>
    </State>
  );
}

export function States() {
  return (
    <>
      <State name="Shape, word and reason">
        <div class="stack-small">
          <Status state="ok" word="Running" reason="13 tools" />
          <Status state="busy" word="Connecting" reason="downloading @playwright/mcp, 12 s" />
          <Status state="warn" word="Degraded" reason="3 of 40 calls failed in the last 5 min" />
          <Status
            state="bad"
            word="Failed"
            reason="token expired, 4 min ago"
            action={
              <Button size="small" kind="primary">
                Log in
              </Button>
            }
          />
          <Status state="off" word="Disabled" />
        </div>
      </State>
      <State name="A hostile reason, cut; its title shows all">
        <Status state="bad" word="Failed" reason={HOSTILE} />
      </State>
    </>
  );
}

export function Values() {
  return (
    <>
      <State name="Values of all kinds">
        <KeyValues
          items={[
            { key: "State", value: <Status state="ok" word="Running" /> },
            {
              key: "Address",
              value: "https://gateway.example.com/dev/mcp",
              mono: true,
              copy: "https://…/dev/mcp",
            },
            { key: "Command", value: "npx -y @modelcontextprotocol/server-github", mono: true },
            { key: "Changed", value: "4 min ago by ada" },
            { key: "Description", value: undefined },
          ]}
        />
      </State>
      <State name="A line to copy">
        <CopyLine text="claude mcp add --transport http dev https://gateway.example.com/dev/mcp" />
      </State>
    </>
  );
}
