/** A button, or a link that looks like one. Its label is a verb. */
import type { ComponentChildren } from "preact";
import { componentTexts } from "../texts/components.ts";
import { ForeignText } from "./foreign-text.tsx";
import "./button.css";

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: "plain" | "primary" | "quiet" | "danger";
  readonly size?: "normal" | "small";
  /** Renders a link. */
  readonly href?: string;
  readonly type?: "button" | "submit";
  /** Id of the form to submit, if the button is outside of it. */
  readonly form?: string;
  /** The action is running: the button keeps the focus and ignores clicks. */
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  /** Name for screen readers, if the visible text is not enough. */
  readonly label?: string;
  readonly pressed?: boolean;
  readonly autofocus?: boolean;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
}

export function Button(props: ButtonProps) {
  const { children, kind = "plain", size = "normal", href, type = "button", busy = false } = props;
  const shared = {
    class: `button button-${kind}${size === "small" ? " button-small" : ""}`,
    title: props.title,
    "aria-label": props.label,
  };
  // The text may contain a long name that somebody else chose.
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
