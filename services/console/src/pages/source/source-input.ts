import { objectIn, wordsIn } from "../../parts/read-text.ts";
import type { Source } from "../sources.ts";

/** The texts of the form of a source, as they are typed. */
export type SourceInput = Readonly<ReturnType<typeof inputOf>>;

type Settings = Record<string, unknown>;

/** Writes a source into the fields of the form. */
export function inputOf({ name, event_types, forward, status, settings }: Source) {
  const { keep_rejected_bodies: keepRejected = false, ...others } = settings as Settings;
  return {
    name,
    eventTypes: event_types?.join("\n") ?? "",
    forward,
    status,
    keepRejected: keepRejected === true,
    settings: JSON.stringify(others, null, 2),
  };
}

/**
 * Reads the fields of the form as a merge patch: a setting that is gone from the text is given back to its default. The
 * API judges the values.
 * @throws Error that names the field
 */
export function patchOf({ name, eventTypes, forward, status, keepRejected, settings }: SourceInput, before: Source) {
  const words = wordsIn(eventTypes);
  const wanted = { ...settingsOf(settings), keep_rejected_bodies: keepRejected };
  const gone = Object.keys(before.settings).filter((key) => !(key in wanted));
  return {
    name: name.trim(),
    event_types: words.length === 0 ? null : words,
    forward,
    status,
    settings: { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted },
  };
}

/** Reads the settings that are typed as JSON. @throws Error for what is no JSON object */
export const settingsOf = (text: string): Settings => (text.trim() === "" ? {} : objectIn(text, "Settings"));
