import sharp, { type Sharp, type SharpOptions } from "sharp";

/** The loaders of the accepted formats, each fuzzed upstream. Every other one stays blocked, including future ones. */
const trustedLoaders = ["Jpeg", "Png", "Nsgif", "Webp", "Heif", "Tiff"].map((name) => `VipsForeignLoad${name}`);

// The operation cache only helps where one image is read repeatedly, and it keeps memory.
sharp.cache(false);
// Parallelism comes from several images: two threads for one image cost 15 % of the throughput.
sharp.concurrency(1);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: trustedLoaders });

/** The release of the loaded decoder; the parent compares it with the one in its keys. */
export const installedRelease: string = sharp.versions.sharp ?? "";

interface OpenOptions {
  /** Enforced by the decoder itself, in case a header deceived the earlier check. */
  readonly pixelsMax: number;
  readonly allFrames?: boolean;
  /** The frame to open otherwise, from 0. */
  readonly page?: number;
  /** True where the colours are converted by something else than the profile. */
  readonly ignoresProfile?: boolean;
  /** Refuses also what the decoder only warns about. */
  readonly isStrict?: boolean;
}

/**
 * Opens an image file. `failOn: "error"` refuses truncated and damaged files, and accepts what every browser accepts:
 * cameras write JPEGs with harmless oddities that "warning" would refuse.
 */
export function openImage(
  path: string,
  { pixelsMax, allFrames, page = 0, ignoresProfile: ignoreIcc = false, isStrict = false }: OpenOptions,
): Sharp {
  const pages = allFrames ? -1 : 1;
  const failOn = isStrict ? "warning" : "error";
  const options: SharpOptions = { limitInputPixels: pixelsMax, failOn, pages, ignoreIcc };
  return sharp(path, page > 0 ? { ...options, page } : options);
}

/**
 * Verifies at start that the decoder blocks every other loader: a build of libvips that ignores the block list would
 * open files named by an attacker. Throws when it does not.
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
    if (opened) throw new Error(`The image decoder opens ${name} files, which must be blocked`);
  }
}
