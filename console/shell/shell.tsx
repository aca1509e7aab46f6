/** The frame of every page: navigation, header, banners, and the dialogs of the keyboard shortcuts. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { COMMAND_KEY, listenToKeys } from "../keys.ts";
import { connection, outdated } from "../live/events.ts";
import { useReplicas } from "../live/replicas.ts";
import { ATTENTION, useResource } from "../live/resource.ts";
import { address } from "../navigate.ts";
import { PageView } from "../page-view.tsx";
import { replicasTexts } from "../texts/replicas.ts";
import { shellTexts } from "../texts/shell.ts";
import { Header } from "./header.tsx";
import { Navigation } from "./navigation.tsx";
import { closePalette, paletteOpen, showPalette } from "./palette-state.ts";
import "./shell.css";

const loadPalette = () => import("./palette.tsx");

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const keysShown = useSignal(false);
  const menuOpen = useSignal(false);
  const main = useRef<HTMLElement>(null);
  const { page } = address.value;
  useEffect(
    () =>
      listenToKeys({
        palette: () => (paletteOpen.peek() ? closePalette() : showPalette()),
        help: () => {
          keysShown.value = true;
        },
      }),
    [],
  );
  const first = useRef(true);
  useEffect(() => {
    menuOpen.value = false;
    // After navigation the focus moves to the page, so that screen readers announce it. The first page sets
    // its own focus.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [page]);
  return (
    <div class="shell">
      <button type="button" class="skip-link" onClick={() => main.current?.focus()}>
        {shellTexts.skip}
      </button>
      <Header menuOpen={menuOpen} showKeys={() => (keysShown.value = true)} />
      <Navigation open={menuOpen} />
      <div class="shell-page">
        {connection.value === "offline" && (
          <p class="banner" role="alert">
            {shellTexts.offline}
          </p>
        )}
        {outdated.value && connection.value !== "offline" && (
          <p class="banner" role="status">
            {shellTexts.outdated}{" "}
            <Button size="small" onClick={() => location.reload()}>
              {shellTexts.notLoaded.reload}
            </Button>
          </p>
        )}
        <SilentReplicas />
        <main id="main" ref={main} tabIndex={-1} class={connection.value === "offline" ? "main-old" : ""}>
          {children}
        </main>
      </div>
      <KeysDialog open={keysShown} />
      {paletteOpen.value && <PageView load={loadPalette} />}
    </div>
  );
}

/** Nothing announces that a replica stops answering, so where there are several, they are asked. */
const WITH_REPLICAS = { ...ATTENTION, everyMs: 5_000 };

/** What a replica knows is missing on all pages while it does not answer. */
function SilentReplicas() {
  const { ids } = useReplicas();
  const items =
    useResource("/attention", ids.length > 1 ? {} : undefined, WITH_REPLICAS).value.value?.items ?? [];
  const silent = items.flatMap(({ kind, replicas = [] }) => (kind === "replica.silent" ? replicas : []));
  if (silent.length === 0) return null;
  return (
    <p class="banner" role="status">
      {replicasTexts.missing(silent)}
    </p>
  );
}

/** Lists the keyboard shortcuts. */
function KeysDialog({ open }: { readonly open: Signal<boolean> }) {
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
