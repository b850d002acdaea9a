/** Bytes in a kibibyte. */
export const KiB = 1024;
/** Bytes in a mebibyte. */
export const MiB = 1024 * KiB;

/** `count` seconds in milliseconds. */
export const seconds = (count: number): number => count * 1000;
/** `count` minutes in milliseconds. */
export const minutes = (count: number): number => seconds(count * 60);
/** `count` hours in milliseconds. */
export const hours = (count: number): number => minutes(count * 60);
