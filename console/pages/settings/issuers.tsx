/** Edits the external authorization servers whose tokens the endpoints accept. */
import type { Settings } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/text-field.tsx";
import { settingsTexts as texts } from "../../texts/settings.ts";

type Issuer = Settings["issuers"][number];

interface IssuersProps {
  readonly value: readonly Issuer[];
  readonly onInput: (value: Issuer[]) => void;
  readonly faultOf: (path: string) => string | undefined;
}

export function Issuers({ value, onInput, faultOf }: IssuersProps) {
  const set = (at: number, change: object) =>
    onInput(value.map((one, index) => (index === at ? ({ ...one, ...change } as Issuer) : one)));
  return (
    <div class="stack">
      <p class="muted">{texts.issuersHint}</p>
      {value.map((issuer, at) => (
        <div key={at} class="panel padded stack">
          {(["issuer", "jwksUri", "groupsClaim"] as const).map((name) => (
            <TextField
              key={name}
              label={texts[name]}
              mono
              {...(name === "issuer" ? { required: true } : { optional: true })}
              value={issuer[name] ?? ""}
              error={faultOf(`/${at}/${name}`)}
              onInput={(text) => set(at, { [name]: text || undefined })}
            />
          ))}
          <TextField
            label={texts.algorithms}
            hint={texts.algorithmsHint}
            required
            mono
            value={issuer.algorithms.join(", ")}
            error={faultOf(`/${at}/algorithms`) ?? faultOf(`/${at}/algorithms/0`)}
            onInput={(text) => set(at, { algorithms: text.split(",").map((one) => one.trim()) })}
          />
          <div class="line">
            <Button onClick={() => onInput(value.filter((_, index) => index !== at))}>
              {texts.removeIssuer}
            </Button>
          </div>
        </div>
      ))}
      <div class="line">
        <Button onClick={() => onInput([...value, { issuer: "", algorithms: ["RS256"] } as Issuer])}>
          {texts.addIssuer}
        </Button>
      </div>
    </div>
  );
}
