/** Shows how to connect a client: the client, a key made here, what to do there. */
import { hrefOf } from "../../address.ts";
import type { Endpoint } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { CopyLine } from "../../components/empty-state.tsx";
import { Connect } from "../../parts/connect.tsx";
import { may } from "../../session.ts";
import { endpointsTexts } from "../../texts/endpoints.ts";

const texts = endpointsTexts.connect;

export function ConnectTab({ endpoint }: { readonly endpoint: Endpoint }) {
  const url = `${location.origin}/metamcp/${endpoint.name}/mcp`;
  return (
    <div class="stack">
      <CopyLine text={url} name={texts.address} />
      {endpoint.openapi && (
        <>
          <h3>{texts.openapi}</h3>
          <CopyLine text={url.replace(/mcp$/, "api/openapi.json")} />
        </>
      )}
      <Connect endpoint={endpoint} />
      {may("endpoints.try") && (
        <div class="line">
          <Button href={hrefOf({ page: "try", query: { endpoint: endpoint.uuid } })}>{texts.tryIt}</Button>
        </div>
      )}
    </div>
  );
}
