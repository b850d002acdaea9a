const seed = 0x9747b28c;
const mixer = 0x5bd1e995;

/** Returns the partition of a key, the same as Kafka's default partitioner, so both adapters place a key alike. */
export function partitionOf(key: string, partitions: number): number {
  return keyHash(key) % partitions;
}

/** Returns the unsigned hash of a key. */
export function keyHash(key: string): number {
  return murmur2(Buffer.from(key)) & 0x7fffffff;
}

/** The 32-bit murmur2 hash of Kafka's Java client (`org.apache.kafka.common.utils.Utils.murmur2`). */
export function murmur2(data: Buffer): number {
  const wholeWords = data.length & ~3;
  let hash = seed ^ data.length;
  for (let at = 0; at < wholeWords; at += 4) {
    let word = Math.imul(data.readInt32LE(at), mixer);
    word ^= word >>> 24;
    hash = Math.imul(hash, mixer) ^ Math.imul(word, mixer);
  }
  if (wholeWords < data.length) {
    for (let at = data.length - 1; at >= wholeWords; at--) hash ^= (data[at] as number) << ((at - wholeWords) * 8);
    hash = Math.imul(hash, mixer);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, mixer);
  return hash ^ (hash >>> 15);
}
