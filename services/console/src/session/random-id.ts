/** Creates an id of 128 random bits. `crypto.randomUUID` is missing on plain http. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// The client makes a key of each change with it.
crypto.randomUUID ??= randomId as typeof crypto.randomUUID;
