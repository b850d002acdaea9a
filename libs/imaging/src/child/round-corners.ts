import sharp, { type Sharp } from "sharp";

/** Makes the corners transparent; a radius of half the shorter side makes a circle or a pill. */
export async function roundCorners(image: Sharp, wanted: number): Promise<Sharp> {
  const { data, info } = await image
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const radius = Math.min(wanted, width / 2, height / 2);
  for (let y = 0; y < radius; y++) {
    for (let x = 0; x < radius; x++) {
      // Distance of the pixel's middle from the arc: within half a pixel of it the edge is smooth.
      const share = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(radius - x - 0.5, radius - y - 0.5)));
      for (const [column, row] of cornersOf(x, y, width, height)) {
        const at = 4 * (row * width + column) + 3;
        data[at] = Math.round((data[at] ?? 0) * share);
      }
    }
  }
  return sharp(data, { raw: { width, height, channels: 4 } });
}

/** The pixel in each of the corners; each of them once, also where corners meet. */
function cornersOf(x: number, y: number, width: number, height: number): [number, number][] {
  const columns = new Set([x, width - 1 - x]);
  const rows = new Set([y, height - 1 - y]);
  return [...columns].flatMap((column) => [...rows].map((row): [number, number] => [column, row]));
}
