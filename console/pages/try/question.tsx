/** A question of a server during a call: a form, an address to open, or a sampling request. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { TryEvent } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { checkForm, type FormValue, formJson, SchemaForm, startForm } from "../../components/schema-form.tsx";
import { TextField } from "../../components/text-field.tsx";
import { Refused } from "../../shell/refused.tsx";
import { tryTexts } from "../../texts/try.ts";
import { useSending } from "../../use-sending.ts";

const texts = tryTexts.question;

type ServerQuestion = Extract<TryEvent, { readonly type: "question" }>["question"];

interface QuestionProps {
  readonly question: ServerQuestion;
  /** Uuid of the endpoint, id of the running call. */
  readonly at: { readonly uuid: string; readonly id: string };
}

interface Params {
  readonly message?: string;
  readonly requestedSchema?: unknown;
  readonly url?: string;
}

export function Question({ question: { id, kind, params }, at }: QuestionProps) {
  const { message = "", requestedSchema = {}, url = "" } = (params ?? {}) as Params;
  const form = useSignal<FormValue>(startForm(requestedSchema));
  const text = useSignal("");
  const done = useSignal(false);
  const sending = useSending();
  const answer = async (action: "accept" | "decline" | "cancel", more: object = {}) => {
    const body = { question: id, action, ...more };
    if (await sending.run(() => send("POST /endpoints/:uuid/try/:id/answers", body, { params: at })))
      done.value = true;
  };
  const accept = () => {
    if (kind === "sampling") return answer("accept", { text: text.value });
    if (kind === "url") return answer("accept");
    if (checkForm(requestedSchema, form.value).length > 0) return undefined;
    return answer("accept", { content: JSON.parse(formJson(form.value) ?? "{}") });
  };
  if (done.value) return null;
  return (
    <section class="panel padded stack" aria-label={texts[kind]}>
      <h3>{texts[kind]}</h3>
      <p>
        <ForeignText text={message} />
      </p>
      {kind === "form" && (
        <SchemaForm schema={requestedSchema} value={form.value} onInput={(value) => (form.value = value)} />
      )}
      {kind === "url" && <Link url={url} />}
      {kind === "sampling" && (
        <>
          <JsonTree label={texts.sampling} value={params} />
          <TextField
            label={texts.text}
            rows={3}
            value={text.value}
            onInput={(typed) => (text.value = typed)}
          />
        </>
      )}
      <Refused problem={sending.problem} />
      <div class="line">
        <Button kind="primary" busy={sending.busy} onClick={() => void accept()}>
          {kind === "url" ? texts.done : texts.answer}
        </Button>
        <Button onClick={() => void answer("decline")}>{texts.decline}</Button>
      </div>
    </section>
  );
}

/** Only http and https addresses become links. */
function Link({ url }: { readonly url: string }) {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return (
    <p>
      <code>
        <ForeignText text={url} />
      </code>{" "}
      {isWeb && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {texts.open}
        </a>
      )}
    </p>
  );
}
