/** Copies a text and says so. */
import { useEffect, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import "./copy-button.css";

const SAID_MS = 1600;

export interface CopyButtonProps {
  readonly text: string | (() => string);
  /** What stands on the button. */
  readonly label?: string;
  /** What it copies, for screen readers: "Copy address". */
  readonly name?: string;
  readonly kind?: ButtonProps["kind"];
  readonly size?: ButtonProps["size"];
}

export function CopyButton(props: CopyButtonProps) {
  const { text, label = componentTexts.copy, name, kind = "plain", size = "small" } = props;
  const [said, say] = useState<"copied" | "copyFailed">();
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => say(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () =>
    say((await copyText(typeof text === "string" ? text : text())) ? "copied" : "copyFailed");
  return (
    <>
      <Button kind={kind} size={size} {...(name && !said ? { label: name } : {})} onClick={() => void copy()}>
        <span class="copy-button">
          <span class={said ? "copy-button-away" : ""}>{label}</span>
          <span class={said ? "" : "copy-button-away"} aria-hidden={!said}>
            {componentTexts[said ?? "copied"]}
          </span>
        </span>
      </Button>
      <span class="for-screen-readers" role="status">
        {said && componentTexts[said]}
      </span>
    </>
  );
}
