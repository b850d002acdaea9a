import { isOfThisEncoder, withoutEncoder } from "./rendition.ts";

/** A rendition that was stored on demand. */
export interface OnDemandRendition {
  readonly key: string;
  readonly sizeBytes: number;
  readonly seenAt: Date;
}

/**
 * Chooses renditions to evict: those of an older encoder that a newer one has replaced, then the least recently used
 * beyond the bounds.
 */
export function renditionsToEvict(
  stored: readonly OnDemandRendition[],
  { countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number },
): string[] {
  const current = new Set(stored.filter(({ key }) => isOfThisEncoder(key)).map(({ key }) => withoutEncoder(key)));
  const isReplaced = ({ key }: OnDemandRendition) => !isOfThisEncoder(key) && current.has(withoutEncoder(key));
  const kept = stored
    .filter((one) => !isReplaced(one))
    .sort((a, b) => b.seenAt.getTime() - a.seenAt.getTime() || (a.key < b.key ? -1 : 1));
  let [count, bytes] = [0, 0];
  const gone = kept.filter(({ sizeBytes }) => {
    if (count >= countMax || bytes + sizeBytes > bytesMax) return true;
    count++;
    bytes += sizeBytes;
    return false;
  });
  return [...stored.filter(isReplaced), ...gone].map(({ key }) => key);
}
