/** The picture of who calls what as a table, for screen readers and for exact numbers. */
import { useSignal } from "@preact/signals";
import type { Usage } from "../../api/types.ts";
import { count } from "../../format.ts";
import { callsHref } from "../../parts/calls-href.ts";
import { usageTexts } from "../../texts/usage.ts";

const texts = usageTexts.flow;
const MOST = 200;

/** Rendered when it is opened, because its rows are more than the rest of the page. */
export function FlowTable({ usage }: { readonly usage: Usage }) {
  const open = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary class="small">{texts.table}</summary>
      {open.value && <Rows usage={usage} />}
    </details>
  );
}

function Rows({ usage: { flows, from } }: { readonly usage: Usage }) {
  const heads = [...Object.values(texts.one), ...Object.values(texts.heads)];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="usage-scroll" tabIndex={0} aria-label={texts.title}>
      <table class="usage-table" aria-label={texts.label}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {flows.slice(0, MOST).map(({ client, endpoint, namespace, server, calls, errors, refused }, at) => {
            const filter = { client, endpoint: endpoint?.name, server: server?.name, from };
            return (
              <tr key={at}>
                {[client ?? texts.none.client, endpoint?.name, namespace?.name, server?.name].map(
                  (name, column) => (
                    <td key={heads[column]}>
                      <bdi>{name ?? "–"}</bdi>
                    </td>
                  ),
                )}
                <td class="number">
                  <a href={callsHref(filter)}>{count(calls)}</a>
                </td>
                <td class="number">
                  {errors > 0 ? <a href={callsHref({ ...filter, outcome: "error" })}>{count(errors)}</a> : 0}
                </td>
                <td class="number">
                  {refused > 0 ? (
                    <a href={callsHref({ ...filter, outcome: "refused" })}>{count(refused)}</a>
                  ) : (
                    0
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
