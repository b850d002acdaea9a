import { useEffect, useState } from "react";
import { tabStorage } from "./browser-storage.ts";

/** Begins the entries of the session storage that keep what was typed, for this tab alone and without secrets. */
const place = "signalbox draft ";

/** Forms on the page whose typed values are not sent. */
const unsent = new Set<string>();

export const hasUnsent = (): boolean => unsent.size > 0;

/** Forgets what was typed on this page: its thing is gone. */
export const dropDraftsHere = (): void => forget(`${place}${location.pathname} `);

/** Forgets everything that was typed: the next person sees nothing of it. */
export const clearDrafts = (): void => forget(place);

function forget(beginning: string): void {
  for (const key of unsent) if (key.startsWith(beginning)) unsent.delete(key);
  for (const key of tabStorage.keys()) if (key.startsWith(beginning)) tabStorage.remove(key);
}

/** Keeps what is typed into a form of this page until it is sent or dropped, also while the person is elsewhere. */
export function useDraft<Draft>(name: string, withoutSecrets: (draft: Draft) => Draft) {
  const [key] = useState(`${place}${location.pathname} ${name}`);
  const [draft, setDraft] = useState<Draft | null>(() => JSON.parse(tabStorage.get(key) ?? "null"));
  useEffect(() => {
    if (draft !== null && tabStorage.get(key) !== null) unsent.add(key);
    return () => void unsent.delete(key);
  }, [draft, key]);
  const settle = () => {
    unsent.delete(key);
    tabStorage.remove(key);
  };
  return {
    /** The typed values; null while nobody has typed. */
    draft,
    keep(next: Draft) {
      tabStorage.set(key, JSON.stringify(withoutSecrets(next)));
      setDraft(next);
    },
    isUnsent: () => unsent.has(key),
    /** Notes that it was sent, though the form still shows it. */
    settle,
    drop() {
      settle();
      setDraft(null);
    },
  };
}
