/** The first that fits counts: browsers name those that they descend from. */
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

/** Longer than any browser's. What stands behind it is a text of whoever sends it. */
const charactersMax = 512;

/**
 * Names the browser and the system of a `User-Agent`, such as `Firefox, Linux`; null for what is neither. The header is
 * written by whoever sends it, so none of its own words is shown.
 */
export function browserNameOf(userAgent: string | undefined): string | null {
  const text = (userAgent ?? "").slice(0, charactersMax);
  const nameIn = (known: typeof browsers) => known.find(([pattern]) => pattern.test(text))?.[1];
  const names = [nameIn(browsers), nameIn(systems)].filter((name) => name !== undefined);
  return names.length === 0 ? null : names.join(", ");
}
