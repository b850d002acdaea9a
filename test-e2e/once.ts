/** Makes a read that is done when it is asked for first; whoever asks later gets what it gave. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= read());
}
