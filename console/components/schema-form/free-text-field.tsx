/** A text field: one line if the schema limits the text, else a field that grows with its content. */
import { TextField } from "../text-field.tsx";
import { defaultText, type NodeProps } from "./field-props.ts";
import { plainField } from "./hint.tsx";

/** Texts up to this maximum length get one line. */
const ONE_LINE_CHARS = 120;

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T14:05:00Z",
  time: "14:05:00Z",
  duration: "P1DT2H",
  email: "ada@example.com",
  uri: "https://example.com",
  "uri-reference": "/path",
  uuid: "00000000-0000-4000-8000-000000000000",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
};

export function FreeTextField(props: NodeProps<"text">) {
  const { node, draft, onInput } = props;
  const { format, pattern, size } = node;
  const oneLine =
    format !== "" || pattern !== undefined || (size.most ?? Number.POSITIVE_INFINITY) <= ONE_LINE_CHARS;
  const examples = node.examples.filter((one) => typeof one === "string");
  return (
    <TextField
      {...plainField(props)}
      type={format === "date" ? "date" : format === "password" ? "password" : "text"}
      placeholder={defaultText(node) ?? PLACEHOLDERS[format] ?? ""}
      spellcheck={false}
      {...(oneLine || examples.length > 0 ? {} : { rows: 1 })}
      {...(examples.length > 0 ? { suggestions: examples } : {})}
      value={typeof draft === "string" ? draft : ""}
      onInput={(text) => onInput(text === "" ? undefined : text)}
    />
  );
}
