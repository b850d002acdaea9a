/** Writes a BCP 47 tag in its canonical form: `pt-br` is `pt-BR`. Null for any other text, and for a tag with extensions. */
export function canonicalLocale(text: string): string | null {
  try {
    const locale = new Intl.Locale(text);
    const isTag = locale.language.length <= 3 && locale.baseName === locale.toString();
    return isTag ? locale.baseName : null;
  } catch {
    return null;
  }
}
