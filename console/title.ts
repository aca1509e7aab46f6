/** The object that is open, for the title of the tab. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export const openObject = signal<string | undefined>(undefined);

export function useTitle(name: string): void {
  useEffect(() => {
    openObject.value = name;
    return () => {
      openObject.value = undefined;
    };
  }, [name]);
}
