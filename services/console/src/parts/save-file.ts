/** Saves bytes as a file, as a link with `download` does. */
export function saveFile(blob: Blob, filename: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  // The browser has taken the address by then; without this the bytes stay in memory.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
