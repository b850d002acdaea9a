import { type ByteRange, UnsatisfiableRange } from "./object-store.ts";

/** First and last byte of the range within `size` bytes, cut at the end. Throws `UnsatisfiableRange` when it holds none. */
export function resolveRange(range: ByteRange | undefined, size: number): { start: number; end: number } {
  if (!range) return { start: 0, end: size - 1 };
  const start = "suffix" in range ? Math.max(0, size - range.suffix) : range.start;
  const end = "suffix" in range ? size - 1 : Math.min(range.end ?? size - 1, size - 1);
  if (start > end || start >= size) throw new UnsatisfiableRange(size);
  return { start, end };
}
