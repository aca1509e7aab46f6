/** Lists the keyboard shortcuts. */
import type { Signal } from "@preact/signals";
import { Dialog } from "../components/dialog.tsx";
import { COMMAND_KEY } from "../keys.ts";
import { shellTexts } from "../texts/shell.ts";

export function KeysDialog({ open }: { readonly open: Signal<boolean> }) {
  const { title, rows } = shellTexts.keys;
  return (
    <Dialog
      open={open.value}
      title={title}
      onClose={() => {
        open.value = false;
      }}
    >
      <dl class="keys-list">
        {rows(COMMAND_KEY).map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
