/** A file field. The file is sent as base64 in the arguments. */
import { useRef, useState } from "preact/hooks";
import { size } from "../../format.ts";
import { componentTexts } from "../../texts/components.ts";
import { bytesOf } from "../base64.ts";
import { Button } from "../button.tsx";
import { FieldFrame } from "../field-frame.tsx";
import { ForeignText } from "../foreign-text.tsx";
import type { NodeProps } from "./field-props.ts";
import { hintOf, plainField } from "./hint.tsx";

const texts = componentTexts.form;

export function FileField(props: NodeProps<"file">) {
  const { node, draft, onInput } = props;
  const [name, setName] = useState("");
  const given = typeof draft === "string";
  // The rest of the form may change while the file is being read, and then `onInput` is another function.
  const latest = useRef(onInput);
  latest.current = onInput;
  const readFile = async (file: File | undefined) => {
    if (!file) return;
    setName(file.name);
    latest.current(await base64Of(file));
  };
  return (
    <FieldFrame
      {...plainField(props)}
      hint={hintOf(props) ?? texts.file}
      control={({ required: _required, ...control }) => (
        <div class="form-file">
          <input
            {...control}
            type="file"
            class="form-file-input"
            accept={node.mediaType}
            onChange={(event) => void readFile(event.currentTarget.files?.[0])}
          />
          {given && (
            <>
              <span class="muted">
                {name && <ForeignText text={`${name}, `} />}
                {texts.fileGiven(size(bytesOf(draft)))}
              </span>
              <Button size="small" kind="quiet" onClick={() => onInput(undefined)}>
                {texts.remove}
              </Button>
            </>
          )}
        </div>
      )}
    />
  );
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}
