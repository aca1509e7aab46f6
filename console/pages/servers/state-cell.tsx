/** The state of a server in one line: word, reason, time, and the button that fixes it. */
import { useSignal } from "@preact/signals";
import { Ago } from "../../ago.tsx";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Status } from "../../components/status.tsx";
import { may } from "../../session.ts";
import { serverTexts } from "../../texts/servers.ts";
import { logInAt, restart } from "./server-actions.ts";
import { isUntried, needsAttention, shownState } from "./server-state.ts";
import "./state-cell.css";

const { states, idleHint } = serverTexts;

export function ServerState({ server }: { readonly server: Server }) {
  const { since, state, lastFailure } = server.status;
  const shown = shownState(server);
  const at = lastFailure?.since ?? (state === "failed" || state === "connecting" ? since : undefined);
  return (
    <span class="server-state">
      <Status {...shown} reason={shown.reason ?? (shown.word === states.idle ? idleHint : undefined)} />
      {at !== undefined && (
        <span class="faint small">
          <Ago at={at} />
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
  const again = isUntried(server) ? serverTexts.tryNow : serverTexts.restart;
  const [name, act] = login ? [serverTexts.logIn, logInAt] : [again, restart];
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
