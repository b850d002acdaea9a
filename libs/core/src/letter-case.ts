/** Writes a name of the graph or of TypeScript as JSON and SQL write it: `createdAt` becomes `created_at`. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Writes a name of JSON or SQL as the graph and TypeScript write it: `created_at` becomes `createdAt`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
