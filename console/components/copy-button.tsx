/** Copies a text and confirms it. */
import { useEffect, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import "./copy-button.css";

const CONFIRM_MS = 1600;

export interface CopyButtonProps {
  readonly text: string | (() => string);
  /** Visible text of the button. */
  readonly label?: string;
  /** Name for screen readers: "Copy address". */
  readonly name?: string;
  readonly kind?: ButtonProps["kind"];
  readonly size?: ButtonProps["size"];
}

export function CopyButton(props: CopyButtonProps) {
  const { text, label = componentTexts.copy, name, kind = "plain", size = "small" } = props;
  const [outcome, setOutcome] = useState<"copied" | "copyFailed">();
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () =>
    setOutcome((await copyText(typeof text === "string" ? text : text())) ? "copied" : "copyFailed");
  return (
    <>
      <Button
        kind={kind}
        size={size}
        {...(name && !outcome ? { label: name } : {})}
        onClick={() => void copy()}
      >
        <span class="copy-button">
          <span class={outcome ? "copy-button-away" : ""}>{label}</span>
          <span class={outcome ? "" : "copy-button-away"} aria-hidden={!outcome}>
            {componentTexts[outcome ?? "copied"]}
          </span>
        </span>
      </Button>
      <span class="for-screen-readers" role="status">
        {outcome && componentTexts[outcome]}
      </span>
    </>
  );
}
