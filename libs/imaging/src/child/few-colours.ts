/** The entries that a palette can have. */
const coloursMax = 256;

/** Returns true for pixels whose colours all fit into a palette, which then loses nothing. A photograph is known early. */
export function hasFewColours(pixels: Buffer, channels: number): boolean {
  const colours = new Set<number>();
  let last = -1;
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = pixels.readUIntBE(at, channels);
    if (colour === last) continue;
    last = colour;
    if (colours.add(colour).size > coloursMax) return false;
  }
  return true;
}
