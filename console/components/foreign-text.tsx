/**
 * Shows untrusted text: never as markup, with its own text direction, and with invisible characters made
 * visible.
 */
import { componentTexts } from "../texts/components.ts";
import { visibleParts } from "./visible-text.ts";
import "./foreign-text.css";

export function ForeignText({ text }: { readonly text: string }) {
  return (
    <bdi>
      {visibleParts(text).map((part, index) =>
        part.code === undefined ? (
          part.text
        ) : (
          <span key={index} class="invisible-character" title={componentTexts.control(part.code)}>
            {part.text}
          </span>
        ),
      )}
    </bdi>
  );
}
