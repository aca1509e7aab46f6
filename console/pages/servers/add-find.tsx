/**
 * Finds servers in the gallery and the registry. The chosen one shows the exact command before it is added.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Offer } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { TextField } from "../../components/text-field.tsx";
import { useResource } from "../../live/resource.ts";
import { address, setQuery } from "../../navigate.ts";
import { Ready } from "../../shell/ready.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { ChosenOffer } from "./chosen-offer.tsx";

const texts = serverTexts.adding;
const DEBOUNCE_MS = 250;

export function AddFind({ onDone }: { readonly onDone: () => void }) {
  const typed = address.value.query["find"] ?? "";
  const search = useSignal(typed);
  const chosen = useSignal<Offer | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => {
      search.value = typed.trim();
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useResource("/registry", { q: search.value }, {}).value;
  // The rows of the last search stay while the next one runs, so that no row disappears under a click.
  const shown = useRef(found);
  if (found.state !== "loading") shown.current = found;
  if (chosen.value)
    return <ChosenOffer offer={chosen.value} onDone={onDone} onBack={() => (chosen.value = undefined)} />;
  return (
    <div class="stack">
      <TextField
        label={texts.find}
        type="search"
        placeholder={texts.findPlaceholder}
        value={typed}
        onInput={(find) => setQuery({ find })}
      />
      <Ready of={shown.current}>
        {({ items, notice }) => (
          <>
            {notice !== undefined && (
              <p class="muted">
                <ForeignText text={notice} />
              </p>
            )}
            {items.length === 0 && <EmptyState title={texts.findNone} />}
            {(search.value === "" ? byCategory(items) : [{ offers: items }]).map(({ title, offers }) => (
              <section key={title} class="stack-small">
                {title !== undefined && <h3>{title}</h3>}
                <ul class="offers">
                  {offers.map((offer) => (
                    <OfferRow key={offer.id} offer={offer} onChoose={() => (chosen.value = offer)} />
                  ))}
                </ul>
              </section>
            ))}
          </>
        )}
      </Ready>
    </div>
  );
}

interface OfferGroup {
  readonly title?: string;
  readonly offers: readonly Offer[];
}

/** While nothing is asked for, there is a heading for each kind, and what works at once stands first. */
function byCategory(offers: readonly Offer[]): readonly OfferGroup[] {
  const titles = Object.entries(texts.categories);
  const known = titles.map(([category, title]) => ({
    title,
    offers: easyFirst(offers.filter((offer) => offer.category === category)),
  }));
  const others = offers.filter(({ category = "" }) => !(category in texts.categories));
  return [...known, { title: texts.otherCategory, offers: easyFirst(others) }].filter(
    (group) => group.offers.length > 0,
  );
}

function easyFirst(offers: readonly Offer[]): readonly Offer[] {
  const rank = (offer: Offer): number => (needsKey(offer) ? 2 : 0) + (offer.verified ? 0 : 1);
  return offers.toSorted((a, b) => rank(a) - rank(b));
}

function needsKey({ variables = [] }: Offer): boolean {
  return variables.some(({ required, secret, set }) => required && secret && !set);
}

function OfferRow({ offer, onChoose }: { readonly offer: Offer; readonly onChoose: () => void }) {
  const { name, id, description, from, verified, refused } = offer;
  return (
    <li class="offer">
      <div class="offer-text">
        <p>
          <strong>
            <ForeignText text={name} />
          </strong>{" "}
          <span class="faint small">
            {from && texts.from[from]}
            {verified && `, ${texts.tried}`}
            {needsKey(offer) && `, ${texts.needsKey}`}
          </span>
        </p>
        <p class="muted">
          <ForeignText text={refused ?? description} />
        </p>
        {id !== name && (
          <p class="mono small faint">
            <ForeignText text={id} />
          </p>
        )}
      </div>
      <Button
        size="small"
        disabled={refused !== undefined}
        label={`${texts.choose} ${name}`}
        onClick={onChoose}
      >
        {texts.choose}
      </Button>
    </li>
  );
}
