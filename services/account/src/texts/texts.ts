import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import it from "./it.json" with { type: "json" };
import ja from "./ja.json" with { type: "json" };
import nl from "./nl.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };
import ptBR from "./pt-BR.json" with { type: "json" };

/** Every text of mails and pages, in one language. A part in braces stands for a value. */
export interface Texts extends Translation {
  readonly locale: string;
}

type Translation = typeof en;

/** By locale; the first one is the fallback. A language that lacks a text does not compile. */
export const translations = { en, de, fr, es, it, ja, nl, pl, "pt-BR": ptBR } as const satisfies Readonly<
  Record<string, Translation>
>;

export const textLocales = Object.keys(translations) as readonly (keyof typeof translations)[];

/** Returns the texts of the first available language: `pt-PT` falls back to `pt-BR`, `de-AT` to `de`. */
export function textsFor(wanted: readonly string[]): Texts {
  const locale = wanted.map(nearestLocale).find((near) => near !== undefined) ?? "en";
  return { ...translations[locale], locale };
}

function nearestLocale(wanted: string) {
  const name = wanted.toLowerCase();
  const language = languageOf(name);
  return (
    textLocales.find((locale) => locale.toLowerCase() === name) ??
    textLocales.find((locale) => languageOf(locale) === language)
  );
}

const languageOf = (locale: string): string => locale.split("-", 1)[0] ?? "";

/** Fills the placeholders of a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/** Formats a duration: `10 minutes`. */
export function minutesIn({ locale }: { readonly locale: string }, durationMs: number): string {
  const unit = { style: "unit", unit: "minute", unitDisplay: "long" } as const;
  return new Intl.NumberFormat(locale, unit).format(Math.round(durationMs / 60_000));
}

/** Formats a time in the given time zone. */
export function timeIn({ locale }: { readonly locale: string }, at: Date, timeZone: string): string {
  const day = { year: "numeric", month: "long", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const;
  return new Intl.DateTimeFormat(locale, { ...day, ...time, timeZone }).format(at);
}
