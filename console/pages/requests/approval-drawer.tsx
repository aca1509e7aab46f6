/** The drawer of a call that waits for approval: its arguments, and the decision. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Ago } from "../../ago.tsx";
import type { Approval } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Drawer } from "../../components/drawer.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { KeyValues } from "../../components/key-values.tsx";
import { TextField } from "../../components/text-field.tsx";
import { go } from "../../navigate.ts";
import { PersonLink } from "../../parts/person-link.tsx";
import { Refused } from "../../shell/refused.tsx";
import { requestsTexts } from "../../texts/requests.ts";
import { ApprovedCall } from "./approved-call.tsx";
import { RuleLink } from "./rule-link.tsx";
import { TimeLeft } from "./time-left.tsx";
import { useDecision } from "./use-decision.ts";

const texts = requestsTexts.calls;

export function ApprovalDrawer({ approval }: { readonly approval: Approval }) {
  const { name, state, principal, endpoint, expiresAt, decidable, decidedBy, decidedAt, comment } = approval;
  return (
    <Drawer title={name} titleMono subtitle={texts.states[state]} onClose={() => go({ page: "requests" })}>
      <div class="stack">
        <KeyValues
          items={[
            { key: texts.columns.who, value: <PersonLink of={principal} /> },
            ...(principal.key ? [{ key: texts.key, value: <ForeignText text={principal.key.name} /> }] : []),
            {
              key: texts.columns.endpoint,
              value: (
                <a href={hrefOf({ page: "endpoints", id: endpoint.uuid })}>
                  <bdi>{endpoint.name}</bdi>
                </a>
              ),
              mono: true,
            },
            ...(approval.tier ? [{ key: texts.kind, value: texts.tiers[approval.tier] }] : []),
            { key: texts.columns.reason, value: <RuleLink approval={approval} /> },
            ...(state === "waiting"
              ? [{ key: texts.expires, value: <TimeLeft at={approval.at} until={expiresAt} /> }]
              : []),
            ...(decidedBy ? [{ key: texts.decidedBy, value: <PersonLink of={decidedBy} /> }] : []),
            ...(decidedAt ? [{ key: texts.decidedAt, value: <Ago at={decidedAt} /> }] : []),
            ...(comment ? [{ key: texts.comment, value: <ForeignText text={comment} /> }] : []),
          ]}
        />
        <h3>{texts.arguments}</h3>
        <JsonTree label={texts.arguments} value={approval.arguments} />
        {state === "approved" && <ApprovedCall approval={approval} />}
        {decidable && <Decide uuid={approval.uuid} />}
        {state === "waiting" && !decidable && <p class="muted">{texts.notYours}</p>}
      </div>
    </Drawer>
  );
}

function Decide({ uuid }: { readonly uuid: string }) {
  const comment = useSignal("");
  const { sending, decide } = useDecision(uuid);
  return (
    <>
      <TextField
        label={texts.comment}
        hint={texts.commentHint}
        optional
        value={comment.value}
        onInput={(text) => (comment.value = text)}
      />
      <Refused problem={sending.problem} />
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void decide("approve", comment.value)}>
          {texts.approve}
        </Button>
        <Button kind="danger" onClick={() => void decide("refuse", comment.value)}>
          {texts.refuse}
        </Button>
      </div>
    </>
  );
}
