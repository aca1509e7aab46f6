/** A list of names and values. */
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";
import "./key-values.css";

export interface KeyValue {
  readonly key: string;
  readonly value: ComponentChildren;
  /** Monospaced, for ids, names and addresses. */
  readonly mono?: boolean;
  /** Adds a button that copies this text. */
  readonly copy?: string;
}

interface KeyValuesProps {
  readonly items: readonly KeyValue[];
  /** Two columns, for short values on a whole page. */
  readonly facts?: boolean;
}

export function KeyValues({ items, facts = false }: KeyValuesProps) {
  return (
    <dl class={`key-values${facts ? " key-values-facts" : ""}`}>
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
