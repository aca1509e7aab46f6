/** Names and their values. */
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";
import "./key-values.css";

export interface KeyValue {
  readonly key: string;
  readonly value: ComponentChildren;
  /** For ids, names and addresses. */
  readonly mono?: boolean;
  /** Text that its button copies. */
  readonly copy?: string;
}

export function KeyValues({ items }: { readonly items: readonly KeyValue[] }) {
  return (
    <dl class="key-values">
      {items.map(({ key, value, mono, copy }) => (
        <div key={key} class="key-values-row">
          <dt>{key}</dt>
          <dd class={mono ? "mono" : ""}>
            <span class="key-values-value">{value ?? "–"}</span>
            {copy !== undefined && <CopyButton text={copy} kind="quiet" name={`Copy ${key}`} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
