interface Bucket {
  red: number;
  green: number;
  blue: number;
  count: number;
}

/** Resolution of the comparison: colours within eight steps of each channel count as one. */
const bits = 3;
const opaqueFrom = 128;

/** Finds the most frequent colour of opaque pixels, as `#rrggbb`; white for an image without any. */
export function dominantColor(rgba: Uint8Array): string {
  const buckets = new Map<number, Bucket>();
  for (let at = 0; at + 3 < rgba.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = rgba.subarray(at, at + 4);
    if (alpha < opaqueFrom) continue;
    const step = 8 - bits;
    const key = ((red >> step) << (2 * bits)) | ((green >> step) << bits) | (blue >> step);
    const bucket = buckets.get(key) ?? { red: 0, green: 0, blue: 0, count: 0 };
    bucket.red += red;
    bucket.green += green;
    bucket.blue += blue;
    bucket.count++;
    buckets.set(key, bucket);
  }
  const [most] = [...buckets.values()].sort((a, b) => b.count - a.count);
  if (!most) return "#ffffff";
  const { count } = most;
  const hex = [most.red, most.green, most.blue].map((sum) =>
    Math.round(sum / count)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${hex.join("")}`;
}
