interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

/** The media types of an Accept header (RFC 9110 §12.5.1). */
export interface AcceptedTypes {
  /** Returns the weight of the most specific range that covers a type, 0 when none does. */
  weightOf(mimeType: string): number;
  /** Returns the weight of the range that names the type itself, or null. */
  namedWeightOf(mimeType: string): number | null;
  /** Returns true when a range covers the type with weight 0. */
  refuses(mimeType: string): boolean;
}

/** Parses an Accept header. An absent or empty one, or one without a readable range, accepts everything. */
export function parseAccept(header: string | undefined): AcceptedTypes {
  const read = (header ?? "")
    .split(",")
    .map(readRange)
    .filter((range) => range !== null);
  const ranges = read.length > 0 ? read : [{ type: "*/*", quality: 1 }];

  function rangeFor(mimeType: string): MediaRange | undefined {
    const family = `${mimeType.slice(0, mimeType.indexOf("/"))}/*`;
    for (const type of [mimeType, family, "*/*"]) {
      const range = ranges.find((candidate) => candidate.type === type);
      if (range) return range;
    }
    return undefined;
  }

  return {
    weightOf: (mimeType) => rangeFor(mimeType)?.quality ?? 0,
    namedWeightOf: (mimeType) => ranges.find((range) => range.type === mimeType)?.quality ?? null,
    refuses: (mimeType) => rangeFor(mimeType)?.quality === 0,
  };
}

/** Parses one range; null for an unreadable one: an unknown weight must not become a preference. */
function readRange(text: string): MediaRange | null {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (!/^(\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/.test(type)) return null;
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return { type, quality: 1 };
  const value = weight.slice(weight.indexOf("=") + 1).trim();
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(value) ? { type, quality: Number(value) } : null;
}
