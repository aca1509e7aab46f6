/** A button, or a link that looks like one. Its name is a verb. */
import type { ComponentChildren } from "preact";
import { componentTexts } from "../texts/components.ts";
import { ForeignText } from "./foreign-text.tsx";
import "./button.css";

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: "plain" | "primary" | "quiet" | "danger";
  readonly size?: "normal" | "small";
  /** Makes it a link. */
  readonly href?: string;
  readonly type?: "button" | "submit";
  /** Id of the form that it sends, where it stands outside of it. */
  readonly form?: string;
  /** Under way: it can still be focused, and does nothing. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  /** Name for screen readers, where the text alone does not say it. */
  readonly label?: string;
  readonly pressed?: boolean;
  readonly autofocus?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
}

export function Button(props: ButtonProps) {
  const { children, kind = "plain", size = "normal", href, type = "button", busy = false } = props;
  const shared = {
    class: `button button-${kind}${size === "small" ? " button-small" : ""}`,
    title: props.title,
    "aria-label": props.label,
  };
  // A name in it may be long, and of others.
  const text = typeof children === "string" ? <ForeignText text={children} /> : children;
  if (href !== undefined)
    return (
      <a {...shared} href={href} onClick={props.onClick}>
        <span class="button-text">{text}</span>
      </a>
    );
  return (
    <button
      {...shared}
      type={type}
      form={props.form}
      disabled={props.disabled}
      autofocus={props.autofocus}
      aria-pressed={props.pressed}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else props.onClick?.(event);
      }}
    >
      <span class="button-text">{text}</span>
      {busy && <span class="button-busy" role="img" aria-label={componentTexts.working} />}
    </button>
  );
}
