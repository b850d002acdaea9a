/** Words of a text, apart by commas, spaces or lines. */
export const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

/** Reads a number that was typed. @throws Error that names the field */
export function numberIn(text: string, field: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number)) return number;
  throw new Error(`${field}: “${text}” is not a number.`);
}

/** Reads JSON that was typed. @throws Error that names the field */
export function jsonIn(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${field}: this is not JSON. ${(error as Error).message}`);
  }
}

/** Reads a JSON object that was typed. @throws Error that names the field */
export function objectIn(text: string, field: string): Record<string, unknown> {
  const value = jsonIn(text, field);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${field}: this is not a JSON object.`);
}
