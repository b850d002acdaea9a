import { type FileHandle, open } from "node:fs/promises";

/** The first twelve bytes are RIFF, a length and WEBP. */
const firstChunkAt = 12;
const headBytes = 8;
/** Largest number of chunks besides the frames in a plausible file. */
const othersMax = 1_000;

/**
 * Returns true when a WebP file has more frames than this, by its chunk headers. The decoder walks from the first frame
 * to each one: a file of 6 MB with 100,000 frames would keep it busy for half a minute before it had read the header.
 */
export async function hasMoreFrames(path: string, framesMax: number): Promise<boolean> {
  const file = await open(path, "r");
  try {
    let [frames, others] = [0, 0];
    let chunk = await chunkAt(file, firstChunkAt);
    while (chunk !== null && frames <= framesMax && others <= othersMax) {
      if (chunk.type === "ANMF") frames++;
      else others++;
      chunk = await chunkAt(file, chunk.next);
    }
    return frames > framesMax || others > othersMax;
  } finally {
    await file.close();
  }
}

/** Reads a chunk's type and the offset of the next one; null at the end. */
async function chunkAt(file: FileHandle, at: number): Promise<{ readonly type: string; readonly next: number } | null> {
  const { buffer: head, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, at);
  if (bytesRead < headBytes) return null;
  const length = head.readUInt32LE(4);
  return { type: head.toString("latin1", 0, 4), next: at + headBytes + length + (length % 2) };
}
