/** What a new machine client needs to get tokens. Its secret is shown once. */
import type { ApiKeyMade } from "../../api/types.ts";
import { KeyValues } from "../../components/key-values.tsx";
import { ShownOnce } from "../../shell/shown-once.tsx";
import { keysTexts } from "../../texts/keys.ts";

const texts = keysTexts.machine;

interface MachineMadeProps {
  readonly made: Pick<ApiKeyMade, "uuid" | "key">;
  readonly onClose: () => void;
}

export function MachineMade({ made: { uuid, key }, onClose }: MachineMadeProps) {
  const text = key === undefined ? texts.made.text : texts.made.secret;
  return (
    <ShownOnce texts={texts.made} text={text} line={key ?? uuid} onClose={onClose}>
      <KeyValues
        items={[
          { key: texts.clientId, value: uuid, mono: true },
          { key: texts.tokenEndpoint, value: `${location.origin}/oauth/token`, mono: true },
        ]}
      />
    </ShownOnce>
  );
}
