/** The look of a deployment's pages. */
export interface Brand {
  readonly name: string;
  /** An https or data URL; null to show the name only. */
  readonly logoUrl: string | null;
  /** The colour of buttons, as `#rrggbb`. */
  readonly color: string;
}

/** Picks black or white text for a background, whichever has more contrast: at least 4.58 to 1. */
export function textColorOn(color: string): "#000000" | "#ffffff" {
  return contrastOf(color, "#000000") > contrastOf(color, "#ffffff") ? "#000000" : "#ffffff";
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
