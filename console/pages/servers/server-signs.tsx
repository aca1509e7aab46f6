/**
 * Prompts and instructions of a server that are not approved as they are, and signs of an attack in what
 * needs no approval, until somebody approves it. Tools that are not approved are on the page Tools.
 */
import { send } from "../../api/client.ts";
import type { ChangeApproval, ItemChange, ItemSigns, Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Diff } from "../../components/diff.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { refresh, STATES, useResource } from "../../live/resource.ts";
import { SignList } from "../../parts/sign-list.tsx";
import { may } from "../../session.ts";
import { Refused } from "../../shell/refused.tsx";
import { toolsTexts } from "../../texts/tools.ts";
import { useSending } from "../../use-sending.ts";

const texts = toolsTexts.signs;

export function ServerSigns({ server }: { readonly server: Server }) {
  const changes = useResource("/mcp-servers/:uuid/changes", { uuid: server.uuid }, STATES);
  const { value } = changes.value;
  if (!value) return null;
  const others = value.items.filter(({ of }) => of !== "tools");
  if (others.length === 0 && value.signs.length === 0) return null;
  return (
    <div class="stack padded">
      {others.map((change) => (
        <TextChange
          key={`${change.of} ${change.tool}`}
          server={server}
          change={change}
          version={value.version}
        />
      ))}
      {value.signs.map((item) => (
        <SignedItem key={`${item.of} ${item.name}`} server={server} item={item} version={value.version} />
      ))}
    </div>
  );
}

interface TextChangeProps {
  readonly server: Server;
  readonly change: ItemChange;
  readonly version: string;
}

function TextChange({ server, change, version }: TextChangeProps) {
  const { of, tool } = change;
  const body = { version, ...(of === "instructions" ? { instructions: true } : { prompts: [tool] }) };
  return (
    <section class="stack-small">
      <h3>
        {texts.kinds[of]} <ForeignText text={of === "instructions" ? "" : tool} />
        {`: ${toolsTexts.changed[change.kind]}`}
      </h3>
      <SignList signs={change.signs} />
      <Diff before={change.before} after={change.after} />
      <Approval server={server} body={body} />
    </section>
  );
}

interface SignedItemProps {
  readonly server: Server;
  readonly item: ItemSigns;
  readonly version: string;
}

function SignedItem({ server, item: { of, name, form, signs }, version }: SignedItemProps) {
  return (
    <section class="stack-small">
      <h3>
        {texts.kinds[of]} <ForeignText text={of === "instructions" ? "" : name} />
      </h3>
      <SignList signs={signs} />
      <Approval server={server} body={{ version, signs: [{ of, name, form }] }} />
    </section>
  );
}

interface ApprovalProps {
  readonly server: Server;
  readonly body: ChangeApproval;
}

function Approval({ server: { uuid }, body }: ApprovalProps) {
  const sending = useSending();
  if (!may("servers.write")) return null;
  const approve = async (): Promise<void> => {
    await sending.run(() => send("POST /mcp-servers/:uuid/changes/approve", body, { params: { uuid } }));
    refresh("/mcp-servers");
  };
  return (
    <>
      <Refused problem={sending.problem} />
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void approve()}>
          {toolsTexts.change.approve}
        </Button>
      </div>
    </>
  );
}
