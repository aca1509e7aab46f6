/** One sentence about the state of all servers. */
import { hrefOf } from "../../address.ts";
import type { Server } from "../../api/types.ts";
import { connection } from "../../live/events.ts";
import { serverTexts } from "../../texts/servers.ts";
import { isUntried, needsAttention } from "./server-state.ts";

const { summary: texts } = serverTexts;
const MAX_NAMED = 3;

export function ServersSummary({ servers }: { readonly servers: readonly Server[] }) {
  const failed = servers.filter(needsAttention);
  if (servers.length === 0) return <>{texts.none}</>;
  if (connection.value === "offline") return <>{texts.old}</>;
  const untried = servers.filter(isUntried).length;
  const idle = servers.filter(({ status }) => !status.connected && status.state === "idle");
  const isUnused = idle.length === servers.length && idle.every(({ status }) => status.toolCount === 0);
  if (failed.length === 0)
    return (
      <>
        {isUnused
          ? texts.unused(servers.length)
          : idle.length > 0
            ? texts.wellSoFar(servers.length, idle.length)
            : texts.well(servers.length)}
      </>
    );
  return (
    <>
      {texts.attention(failed.length, servers.length)}{" "}
      {failed.slice(0, MAX_NAMED).map(({ uuid, name }, at) => (
        <>
          {at > 0 && ", "}
          <a key={uuid} href={hrefOf({ page: "servers", id: uuid })}>
            <bdi>{name}</bdi>
          </a>
        </>
      ))}
      {failed.length > MAX_NAMED && (
        <>
          {" "}
          <a href={hrefOf({ page: "servers", query: { sort: "state" } })}>
            {texts.more(failed.length - MAX_NAMED)}
          </a>
        </>
      )}
      .{untried > 0 && texts.untried(untried)}
    </>
  );
}
