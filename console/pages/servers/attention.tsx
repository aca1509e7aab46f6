/** The one sentence about all servers. */
import { hrefOf } from "../../address.ts";
import type { Server } from "../../api/types.ts";
import { serverTexts } from "../../texts/servers.ts";
import { needsAttention } from "./server-state.ts";

const { answer } = serverTexts;
const MOST_NAMED = 3;

export function Attention({ servers }: { readonly servers: readonly Server[] }) {
  const failed = servers.filter(needsAttention);
  if (servers.length === 0) return <>{answer.none}</>;
  if (servers.every(({ status }) => !status.connected && status.toolCount === 0 && status.state === "idle"))
    return <>{answer.unused(servers.length)}</>;
  if (failed.length === 0) return <>{answer.well(servers.length)}</>;
  return (
    <>
      {answer.attention(failed.length, servers.length)}{" "}
      {failed.slice(0, MOST_NAMED).map(({ uuid, name }, at) => (
        <>
          {at > 0 && ", "}
          <a key={uuid} href={hrefOf({ page: "servers", id: uuid })}>
            <bdi>{name}</bdi>
          </a>
        </>
      ))}
      {failed.length > MOST_NAMED ? " …" : "."}
    </>
  );
}
