/** The first match counts: browsers also name those that they descend from. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, "Windows"],
  [/\bAndroid\b/, "Android"],
  [/\b(iPhone|iPad)\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** Longer than any browser's. The rest is arbitrary text. */
const charactersMax = 512;

/**
 * Names the browser and system of a `User-Agent`, such as `Firefox, Linux`; null for an unknown one. The header is
 * arbitrary text, so no word of it is shown.
 */
export function browserNameOf(userAgent: string | undefined): string | null {
  const text = (userAgent ?? "").slice(0, charactersMax);
  const nameIn = (known: typeof browsers) => known.find(([pattern]) => pattern.test(text))?.[1];
  const names = [nameIn(browsers), nameIn(systems)].filter((name) => name !== undefined);
  return names.length === 0 ? null : names.join(", ");
}
