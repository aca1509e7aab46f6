/** What is shown at an address: a page with the shell around it, or one of those without. */
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BARE_PAGES, type BarePage, type ShellPage } from "./address.ts";
import { Button } from "./components/button.tsx";
import { EmptyPage } from "./components/empty-state.tsx";
import { Toasts } from "./components/toasts.tsx";
import { address, go } from "./navigate.ts";
import { PageView } from "./page-view.tsx";
import { BARE, SHELL } from "./pages.ts";
import { leadToLogin, may, me, recognize, sessionState } from "./session.ts";
import { Shell } from "./shell/shell.tsx";
import { shellTexts } from "./texts/shell.ts";

const AGAIN_MS = 1_500;

export function App() {
  useEffect(() => {
    void recognize();
    return effect(() => {
      const { page } = address.value;
      const name = page === "missing" ? shellTexts.missing.title : shellTexts.pages[page];
      document.title = `${name} · ${shellTexts.product}`;
    });
  }, []);
  return (
    <>
      <Shown />
      <Toasts />
    </>
  );
}

function Shown() {
  const { page } = address.value;
  if (isBare(page)) return <PageView load={BARE[page]} />;
  switch (sessionState.value) {
    case "known":
      return (
        <Shell>
          <Inner page={page} />
        </Shell>
      );
    case "unreachable":
      return <Unreachable />;
    case "stranger":
      return <ToLogin />;
    case "unknown":
      return null;
  }
}

function Inner({ page }: { readonly page: ShellPage | "missing" }) {
  const entry = page === "missing" ? undefined : SHELL[page];
  const allowed = entry && may(entry.action);
  const account = me.value;
  // Who may see nothing of the gateway begins with what is theirs.
  const elsewhere = page === "overview" && !allowed && SHELL.me !== undefined;
  useEffect(() => {
    if (elsewhere) go({ page: "me" }, { replace: true });
  }, [elsewhere]);
  if (elsewhere) return null;
  if (!entry) return <Missing />;
  if (!allowed)
    return (
      <EmptyPage title={shellTexts.forbidden.title}>
        <p>{shellTexts.forbidden.text(account ? shellTexts.roles[account.role] : "")}</p>
      </EmptyPage>
    );
  return <PageView load={entry.load} />;
}

function Missing() {
  const { title, text, back } = shellTexts.missing;
  return (
    <EmptyPage title={title} action={<Button href="/">{back}</Button>}>
      <p>{text}</p>
    </EmptyPage>
  );
}

/** Who logged out and goes back sees no page, but the way in. */
function ToLogin() {
  useEffect(leadToLogin, []);
  return null;
}

/** Tries until it answers. */
function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void recognize(), AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <EmptyPage title={shellTexts.unreachable.title}>
      <p>{shellTexts.unreachable.text}</p>
    </EmptyPage>
  );
}

function isBare(page: string): page is BarePage {
  return (BARE_PAGES as readonly string[]).includes(page);
}
