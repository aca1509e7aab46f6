/** The frame of every page: navigation, header, banners, and the dialogs of the keyboard shortcuts. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { listenToKeys } from "../keys.ts";
import { connection, outdated } from "../live/events.ts";
import { address } from "../navigate.ts";
import { PageView } from "../page-view.tsx";
import { shellTexts } from "../texts/shell.ts";
import { Header } from "./header.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
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
    // After navigation the focus moves to the page, so that screen readers announce it. The first page sets its own focus.
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
        {outdated.value && (
          <p class="banner" role="status">
            {shellTexts.outdated}{" "}
            <Button size="small" onClick={() => location.reload()}>
              {shellTexts.notLoaded.reload}
            </Button>
          </p>
        )}
        <main id="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
      <KeysDialog open={keysShown} />
      {paletteOpen.value && <PageView load={loadPalette} />}
    </div>
  );
}
