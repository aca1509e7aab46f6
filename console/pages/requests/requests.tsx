/** The page Requests: calls that wait for approval, and servers that models asked for. */
import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useList } from "../../live/resource.ts";
import { address, go } from "../../navigate.ts";
import { may } from "../../session.ts";
import { mayAskToNotify } from "../../shell/notices.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { requestsTexts as texts } from "../../texts/requests.ts";
import { Approvals } from "./approvals.tsx";
import { ServerRequests } from "./server-requests.tsx";

export default function Requests() {
  const { id, query } = address.value;
  const decides = may("provision");
  const asks = useSignal(mayAskToNotify());
  const calls = useList("/approvals", {}, { on: ["approval"], everyMs: 15_000 });
  const servers = useList("/provision-requests", decides ? {} : undefined, {
    on: ["admin", "revision"],
    everyMs: 15_000,
  });
  const waiting = calls.value.value?.filter(({ state }) => state === "waiting") ?? [];
  // As many as the badge says: of the others this person cannot decide.
  const theirs = waiting.filter(({ decidable }) => decidable).length;
  const pending = servers.value.value?.filter(({ state }) => state === "pending").length ?? 0;
  const tab = decides && query["tab"] === "servers" ? "servers" : "calls";
  return (
    <>
      <PageHead
        title={texts.title}
        summary={texts.summary(waiting.length, theirs, pending)}
        actions={
          asks.value && (
            <Button
              onClick={() =>
                void Notification.requestPermission().then(() => (asks.value = mayAskToNotify()))
              }
            >
              {texts.notices}
            </Button>
          )
        }
      />
      <Tabs
        label={texts.tabs}
        active={tab}
        onChange={(to) => go({ page: "requests", query: { tab: to } })}
        tabs={[
          // None beside calls that others decide.
          {
            id: "calls",
            label: texts.calls.tab,
            ...((theirs > 0 || waiting.length === 0) && { count: theirs }),
          },
          ...(decides ? [{ id: "servers", label: texts.servers.tab, count: pending }] : []),
        ]}
      >
        {tab === "calls" ? <Approvals of={calls} open={id} /> : <ServerRequests of={servers} open={id} />}
      </Tabs>
    </>
  );
}
