/** The fields of a new key that make it a machine client: how it proves itself. */
import { SelectField } from "../../components/select-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { keysTexts } from "../../texts/keys.ts";

const texts = keysTexts.machine;

export interface ProofDraft {
  readonly proof: keyof typeof texts.proofs;
  /** Text of the public keys of a machine client, or their address. */
  readonly keys: string;
}

interface ProofProps {
  readonly draft: ProofDraft;
  readonly set: (change: Partial<ProofDraft>) => void;
  readonly faultOf: (path: string) => string | undefined;
  /** Somebody tried to send it, so what is missing is said. */
  readonly tried: boolean;
}

/** Whether the key is sent by clients, or is a machine client, and how that proves itself. */
export function Proof({ draft: { proof, keys }, set, faultOf, tried }: ProofProps) {
  const wrongJson = tried && jwksIn(keys) === undefined ? texts.jwksWrong : undefined;
  return (
    <>
      <SelectField
        label={texts.proof}
        hint={texts.proofHint}
        value={proof}
        options={Object.entries(texts.proofs).map(([value, label]) => ({ value, label }))}
        error={faultOf("/machine")}
        onInput={(value) => set({ proof: value as ProofDraft["proof"] })}
      />
      {proof === "jwks" && (
        <TextField
          label={texts.jwks}
          hint={texts.jwksHint}
          required
          rows={5}
          mono
          value={keys}
          error={faultOf("/machine/jwks") ?? wrongJson}
          onInput={(value) => set({ keys: value })}
        />
      )}
      {proof === "jwksUri" && (
        <TextField
          label={texts.jwksUri}
          hint={texts.jwksUriHint}
          required
          value={keys}
          error={faultOf("/machine/jwksUri")}
          onInput={(value) => set({ keys: value })}
        />
      )}
    </>
  );
}

export function isProofComplete({ proof, keys }: ProofDraft): boolean {
  return proof !== "jwks" || jwksIn(keys) !== undefined;
}

/** Undefined for a text that is not JSON. */
function jwksIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The machine client of the form. Undefined for a key that clients send. */
export function machineOf({ proof, keys }: ProofDraft) {
  if (proof === "key") return undefined;
  if (proof === "jwks") return { jwks: jwksIn(keys) };
  return proof === "jwksUri" ? { jwksUri: keys.trim() } : {};
}
