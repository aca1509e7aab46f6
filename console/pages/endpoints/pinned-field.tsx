/** Edits the pinned tools of an endpoint, and suggests the ones that its clients call most. */
import { Button } from "../../components/button.tsx";
import { ListField } from "../../components/list-field.tsx";
import { CONFIG, useResource } from "../../live/resource.ts";
import { may } from "../../session.ts";
import { endpointsTexts } from "../../texts/endpoints.ts";

const texts = endpointsTexts.form;

interface PinnedFieldProps {
  /** uuid */
  readonly endpoint: string;
  readonly value: readonly string[];
  readonly error: string | undefined;
  readonly onInput: (value: string[]) => void;
}

export function PinnedField({ endpoint, value, error, onInput }: PinnedFieldProps) {
  const params = may("stats.read") ? { uuid: endpoint } : undefined;
  const suggested = useResource("/endpoints/:uuid/suggested-tools", params, CONFIG).value.value ?? [];
  const left = suggested.filter(({ id }) => !value.includes(id));
  return (
    <div class="stack-small">
      <ListField label={texts.pinned} hint={texts.pinnedHint} value={value} error={error} onInput={onInput} />
      {left.length > 0 && (
        <p class="line">
          <span class="muted">{texts.suggested}</span>
          {left.map(({ id, calls }) => (
            <Button
              key={id}
              size="small"
              label={texts.pin(id, calls)}
              onClick={() => onInput([...value, id])}
            >
              <code>{id}</code>
            </Button>
          ))}
        </p>
      )}
    </div>
  );
}
