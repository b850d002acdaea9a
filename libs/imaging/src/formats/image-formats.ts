/** The formats an original may have. */
export const inputFormats = ["jpeg", "png", "gif", "webp", "avif", "tiff", "heic"] as const;
export type InputFormat = (typeof inputFormats)[number];

/** The formats a rendition may have. */
export const outputFormats = ["jpeg", "png", "webp", "avif", "gif"] as const;
export type OutputFormat = (typeof outputFormats)[number];

interface OutputTraits {
  readonly mimeType: string;
  readonly alpha: boolean;
  readonly animation: boolean;
  /** The longest side that the format, or its encoder, supports. */
  readonly sideMax: number;
  /** The default quality; null for a lossless format. */
  readonly defaultQuality: number | null;
  /**
   * The quality that looks the same in every format: a structural similarity of some 0.97, measured on our fixtures.
   */
  readonly autoQuality: number | null;
}

export const outputTraits: Readonly<Record<OutputFormat, OutputTraits>> = {
  jpeg: {
    mimeType: "image/jpeg",
    alpha: false,
    animation: false,
    sideMax: 65_535,
    defaultQuality: 80,
    autoQuality: 80,
  },
  png: {
    mimeType: "image/png",
    alpha: true,
    animation: false,
    sideMax: 65_535,
    defaultQuality: null,
    autoQuality: null,
  },
  webp: { mimeType: "image/webp", alpha: true, animation: true, sideMax: 16_383, defaultQuality: 80, autoQuality: 76 },
  avif: { mimeType: "image/avif", alpha: true, animation: false, sideMax: 16_384, defaultQuality: 50, autoQuality: 53 },
  gif: {
    mimeType: "image/gif",
    alpha: true,
    animation: true,
    sideMax: 65_535,
    defaultQuality: null,
    autoQuality: null,
  },
};

/** Returns the media type of an original. */
export function mimeTypeOf(format: InputFormat): string {
  return `image/${format}`;
}

/** Returns the format of an original's media type, or null. */
export function inputFormatOf(mimeType: string): InputFormat | null {
  return inputFormats.find((format) => mimeTypeOf(format) === mimeType) ?? null;
}
