/** Shows the page of the current address, with the shell around it or without. */
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BARE_PAGES, type BarePage, type ShellPage } from "./address.ts";
import { Button } from "./components/button.tsx";
import { EmptyPage } from "./components/empty-state.tsx";
import { Toasts } from "./components/toasts.tsx";
import { address, go } from "./navigate.ts";
import { PageView } from "./page-view.tsx";
import { BARE, SHELL } from "./pages.ts";
import { checkLogin, goToLogin, may, me, sessionState } from "./session.ts";
import { waitingCount } from "./shell/notices.ts";
import { Shell } from "./shell/shell.tsx";
import { shellTexts } from "./texts/shell.ts";
import { openObject } from "./title.ts";

const RETRY_MS = 1_500;

export function App() {
  useEffect(() => {
    void checkLogin();
    return effect(() => {
      const { page } = address.value;
      const name = page === "missing" ? shellTexts.missing.title : shellTexts.pages[page];
      const waiting = waitingCount.value > 0 ? `(${waitingCount.value}) ` : "";
      document.title = waiting + [openObject.value, name, shellTexts.product].filter(Boolean).join(" · ");
    });
  }, []);
  return (
    <>
      <CurrentPage />
      <Toasts />
    </>
  );
}

function CurrentPage() {
  const { page } = address.value;
  if (isBare(page)) return <PageView load={BARE[page]} />;
  switch (sessionState.value) {
    case "logged-in":
      return (
        <Shell>
          <ShellPageContent page={page} />
        </Shell>
      );
    case "unreachable":
      return <Unreachable />;
    case "logged-out":
      return <ToLogin />;
    case "unknown":
      return null;
  }
}

function ShellPageContent({ page }: { readonly page: ShellPage | "missing" }) {
  const entry = page === "missing" ? undefined : SHELL[page];
  const allowed = entry && may(entry.action);
  const account = me.value;
  // People who may not see the overview start on their account page.
  const toAccount = page === "overview" && !allowed && SHELL.me !== undefined;
  useEffect(() => {
    if (toAccount) go({ page: "me" }, { replace: true });
  }, [toAccount]);
  if (toAccount) return null;
  if (!entry) return <Missing />;
  if (!allowed)
    return (
      <EmptyPage title={shellTexts.forbidden.title}>
        <p>{shellTexts.forbidden.text(account ? shellTexts.roles[account.role] : "")}</p>
      </EmptyPage>
    );
  return "page" in entry ? <entry.page /> : <PageView load={entry.load} />;
}

function Missing() {
  const { title, text, back } = shellTexts.missing;
  return (
    <EmptyPage title={title} action={<Button href="/">{back}</Button>}>
      <p>{text}</p>
    </EmptyPage>
  );
}

/** After a logout, the back button of the browser leads to the login, not to a page. */
function ToLogin() {
  useEffect(goToLogin, []);
  return null;
}

/** Retries until the gateway answers. */
function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void checkLogin(), RETRY_MS);
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
