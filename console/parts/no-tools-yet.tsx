/**
 * Shown if servers exist but none was ever started, so that their tools are unknown. Its button starts all of
 * them.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { send } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { STATES, useList } from "../live/resource.ts";
import { runWithToast } from "../run-with-toast.ts";
import { may } from "../session.ts";
import { shellTexts } from "../texts/shell.ts";

const texts = shellTexts.noTools;

/** `children` is shown instead if there is no server to start. */
export function NoToolsYet({ children }: { readonly children: ComponentChildren }) {
  const servers = useList("/mcp-servers", {}, STATES).value.value ?? [];
  const busy = useSignal(false);
  const enabled = servers.filter(({ disabled }) => !disabled);
  if (enabled.length === 0) return <>{children}</>;
  const start = async () => {
    busy.value = true;
    const connect = (uuid: string) =>
      runWithToast(
        async () => void (await send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } })),
      );
    await Promise.all(enabled.map(({ uuid }) => connect(uuid)));
    busy.value = false;
  };
  return (
    <EmptyState
      title={texts.title}
      action={
        may("servers.use") && (
          <Button kind="primary" busy={busy.value} onClick={() => void start()}>
            {texts.start(enabled.length)}
          </Button>
        )
      }
    >
      <p>{texts.text}</p>
    </EmptyState>
  );
}
