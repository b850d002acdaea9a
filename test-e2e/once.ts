/** Memoizes a read: it runs at the first call, and later calls get its result. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= read());
}
