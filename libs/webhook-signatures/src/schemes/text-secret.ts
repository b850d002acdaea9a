/** Shortest secret: a shorter one could be guessed by trying. */
const secretBytesMin = 16;
/** Shortest secret of a sender that takes such. */
const shortSecretBytesMin = 6;

/** Returns the shortest secret or key in bytes, of a source that takes short ones or of any other. */
export const bytesMin = (acceptsShort: boolean): number => (acceptsShort ? shortSecretBytesMin : secretBytesMin);

/** Describes the problem of a secret whose UTF-8 bytes are the key; null for a usable one. */
export function textSecretProblem(secret: string, acceptsShort = false): string | null {
  const min = bytesMin(acceptsShort);
  if (secret === "") return "The secret must not be empty.";
  if (secret.trim() !== secret) return "The secret must not begin or end with white space.";
  if (Buffer.byteLength(secret) < min) return `The secret must be at least ${min} bytes long.`;
  if (Buffer.byteLength(secret) > 512) return "The secret must be at most 512 bytes long.";
  if (/\p{Cc}/u.test(secret)) return "The secret must not contain control characters.";
  return null;
}

/** Returns the secrets that can be used as keys: an empty one would let anybody sign. */
export function usableSecrets(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== "");
}
