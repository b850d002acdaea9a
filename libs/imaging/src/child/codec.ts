import sharp, { type Sharp, type SharpOptions } from "sharp";

/** The loaders of the accepted formats, each fuzzed upstream. Every other one stays blocked, present or future. */
const trustedLoaders = ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"].map((name) => `VipsForeignLoad${name}`);

// The operation cache only helps where one image is read again and again, and it holds on to memory.
sharp.cache(false);
// Parallel work comes from several images at once: two threads for one image cost 15 % of the throughput.
sharp.concurrency(1);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: trustedLoaders });

/** The decoder that is really loaded; the parent holds it against the one that its keys name. */
export const installedRelease: string = sharp.versions.sharp ?? "";

interface OpenOptions {
  /** Enforced by the decoder itself, in case a header lied to the check before. */
  readonly pixelsMax: number;
  readonly allFrames?: boolean;
}

/**
 * Opens an image file. `failOn: "error"` refuses truncated and damaged files, and takes what every browser takes: cameras write
 * JPEGs with harmless oddities that "warning" would refuse.
 */
export function openImage(path: string, { pixelsMax, allFrames = false }: OpenOptions): Sharp {
  const options: SharpOptions = { limitInputPixels: pixelsMax, failOn: "error", pages: allFrames ? -1 : 1 };
  return sharp(path, options);
}

/**
 * Proves at start that the decoder refuses what it must: a build of libvips that ignores the block list would open files
 * named by an attacker. Throws when it does not.
 */
export async function assertUntrustedLoadersBlocked(): Promise<void> {
  const probes: Readonly<Record<string, string>> = {
    SVG: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    PPM: "P3 1 1 255 0 0 0\n",
    CSV: "1,2\n3,4\n",
  };
  for (const [name, text] of Object.entries(probes)) {
    const opened = await sharp(Buffer.from(text))
      .metadata()
      .then(
        () => true,
        () => false,
      );
    if (opened) throw new Error(`The image decoder opens ${name}, which must be blocked`);
  }
}
