/**
 * Fields in one column, submitted by a `submit` button or by Enter. The browser checks required fields first.
 */
import type { ComponentChildren, Ref } from "preact";

export interface FormProps {
  readonly onSubmit: () => unknown;
  readonly children: ComponentChildren;
  /** Lets a button outside of the form submit it. */
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
