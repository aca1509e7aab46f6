/** The page My account: the person's endpoints, keys, logins, secrets, allowed clients and password. */
import { useSignal } from "@preact/signals";
import { hrefOf } from "../../address.ts";
import { Button } from "../../components/button.tsx";
import { may, me } from "../../session.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { meTexts as texts } from "../../texts/me.ts";
import { shellTexts } from "../../texts/shell.ts";
import { Grants } from "../people/grants.tsx";
import { MyLogins } from "./logins.tsx";
import { MyEndpoints } from "./my-endpoints.tsx";
import { Password } from "./password.tsx";
import { Secrets } from "./secrets.tsx";
import "./me.css";

export default function MyAccount() {
  const self = me.value;
  const adding = useSignal<string | undefined>(undefined);
  if (!self) return null;
  return (
    <>
      <PageHead
        title={texts.title}
        summary={texts.summary(self.name, shellTexts.roles[self.role].toLowerCase())}
      />
      <div class="me-sections">
        <MyEndpoints />
        {may("keys.read") && (
          <section class="stack-small">
            <h2>{texts.keys.title}</h2>
            <p class="muted">{texts.keys.text}</p>
            <div class="line">
              <Button href={hrefOf({ page: "keys" })}>{texts.keys.open}</Button>
            </div>
          </section>
        )}
        {may("me.secrets") && <MyLogins onAddSecret={(name) => (adding.value = name)} />}
        {may("me.secrets") && <Secrets adding={adding} />}
        {may("me.grants") && <Grants />}
        {may("me.change") && <Password />}
      </div>
    </>
  );
}
