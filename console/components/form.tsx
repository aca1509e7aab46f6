/** Fields below each other, sent by a button of type `submit` or by Enter; the browser checks what is required first. */
import type { ComponentChildren, Ref } from "preact";

export interface FormProps {
  readonly onSubmit: () => unknown;
  readonly children: ComponentChildren;
  /** For a button that stands outside of it. */
  readonly id?: string;
  readonly class?: string;
  readonly formRef?: Ref<HTMLFormElement>;
}

export function Form({ onSubmit, children, id, class: more = "", formRef = null }: FormProps) {
  return (
    <form
      id={id}
      ref={formRef}
      class={`stack ${more}`}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
