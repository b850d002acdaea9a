import type { PortalSession } from "@signalbox/client";

/** The surfaces on which the accent is hardest to read: `--raised` of both schemes in `tokens.css`. */
const surfaces = { light: "#eeeff2", dark: "#26292f" } as const;
/** Text of buttons in the accent where the scheme is dark; where it is light, white. */
const onAccentDark = "#131417";
/** WCAG 2.2, 1.4.3: contrast of text of the usual size. */
const contrastMin = 4.5;

/** Sets the tokens of the theme. The API lets only such values through; each is a value of one property here. */
export function applyTheme({ accent, radius, scheme }: PortalSession["theme"]): void {
  const { style, dataset } = document.documentElement;
  if (scheme !== "auto") dataset.scheme = scheme;
  if (radius !== undefined) style.setProperty("--radius", `${radius}px`);
  if (accent === undefined) return;
  style.setProperty("--theme-accent-light", readableOn(accent, surfaces.light));
  style.setProperty("--theme-accent-dark", readableOn(accent, surfaces.dark));
  style.setProperty("--theme-on-accent-dark", onAccentDark);
}

/** Darkens or lightens a colour until text in it can be read on a surface. */
export function readableOn(colour: string, surface: string): string {
  const target = luminance(surface) > 0.5 ? 0 : 255;
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = channelsOf(colour).map((channel) => Math.round(channel + (target - channel) * share));
    const hex = `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    if (contrast(hex, surface) >= contrastMin) return hex;
  }
  return target === 0 ? "#000000" : "#ffffff";
}

/** The ratio of WCAG 2.2 between two colours, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((channel) => {
    const value = channel / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channelsOf = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
