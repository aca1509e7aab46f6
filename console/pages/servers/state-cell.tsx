/** The state of a server in one line: word, reason, time, and the button that fixes it. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Status } from "../../components/status.tsx";
import { may } from "../../session.ts";
import { serverTexts } from "../../texts/servers.ts";
import { logInAt, restart } from "./server-actions.ts";
import { needsAttention, shownState } from "./server-state.ts";
import "./state-cell.css";

const { states, idleHint } = serverTexts;

export function ServerState({ server }: { readonly server: Server }) {
  const { since, state } = server.status;
  const shown = shownState(server);
  const showsTime = state === "failed" || state === "connecting";
  return (
    <span class="server-state">
      <Status {...shown} reason={shown.reason ?? (shown.word === states.idle ? idleHint : undefined)} />
      {showsTime && since !== undefined && (
        <span class="faint small">
          <Ago at={since} />
        </span>
      )}
      {needsAttention(server) && <FixButton server={server} />}
    </span>
  );
}

/** Restarts the server, or goes to the login if it needs one, because a restart would not help then. */
function FixButton({ server }: { readonly server: Server }) {
  const busy = useSignal(false);
  const login = server.status.needsLogin === true && server.credentials === "shared";
  if (!may(login ? "servers.write" : "servers.use")) return null;
  const [name, act] = login ? [serverTexts.logIn, logInAt] : [serverTexts.restart, restart];
  const run = async () => {
    busy.value = true;
    await act(server);
    busy.value = false;
  };
  return (
    <Button size="small" busy={busy.value} label={`${name} ${server.name}`} onClick={() => void run()}>
      {name}
    </Button>
  );
}
