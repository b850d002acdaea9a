/** A version by Semantic Versioning 2.0.0, with the identifiers of its pre-release. */
type Version = readonly [major: number, minor: number, patch: number, pre: readonly string[]];

const form = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([\dA-Za-z.-]{1,100}))?(?:\+[\dA-Za-z.-]{1,100})?$/;

/** Reads a version; missing numbers are 0, and the part behind + does not count. Returns null for any other text. */
function readVersion(text: string): Version | null {
  const found = form.exec(text.trim());
  if (found === null) return null;
  const [, major, minor = "0", patch = "0", pre] = found;
  return [Number(major), Number(minor), Number(patch), pre === undefined ? [] : pre.split(".")];
}

/** Orders versions as §11 does: negative, zero or positive. */
function compareVersions(a: Version, b: Version): number {
  for (const at of [0, 1, 2] as const) if (a[at] !== b[at]) return a[at] - b[at];
  const [one, other] = [a[3], b[3]];
  // A pre-release comes before its release.
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const order = compareIdentifiers(one[at] ?? "", other[at] ?? "");
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [a, b].map((text) => /^\d+$/.test(text));
  if (aIsNumber && bIsNumber) return Number(a) - Number(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

const operators: Readonly<Record<string, (version: Version, bound: Version) => boolean>> = {
  "=": (version, bound) => compareVersions(version, bound) === 0,
  "!=": (version, bound) => compareVersions(version, bound) !== 0,
  "<": (version, bound) => compareVersions(version, bound) < 0,
  "<=": (version, bound) => compareVersions(version, bound) <= 0,
  ">": (version, bound) => compareVersions(version, bound) > 0,
  ">=": (version, bound) => compareVersions(version, bound) >= 0,
  // As flagd defines them: the same major version, and the same major and minor version.
  "^": ([major], bound) => major === bound[0],
  "~": ([major, minor], bound) => major === bound[0] && minor === bound[1],
};

/** Reads a bound such as `^1.2.0`, `>=2.0` or `1.4.1`, and returns its test of versions; null for any other text. */
export function readVersionRange(text: string): ((version: string) => boolean) | null {
  const [, name = "", rest = ""] = /^(!=|<=|>=|[=<>^~])?\s*(.*)$/s.exec(text) ?? [];
  const isWithin = operators[name || "="];
  const bound = readVersion(rest);
  if (isWithin === undefined || bound === null) return null;
  return (given) => {
    const version = readVersion(given);
    return version !== null && isWithin(version, bound);
  };
}
