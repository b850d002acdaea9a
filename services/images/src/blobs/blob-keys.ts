/** Where an original's bytes are. Renditions are beside them, under `renditions/<sha256>/`; see `@signalbox/imaging`. */
export function originalKey(sha256: string): string {
  return `originals/${sha256}`;
}

/** What every rendition of an original is stored under. */
export function renditionPrefix(sha256: string): string {
  return `renditions/${sha256}/`;
}
