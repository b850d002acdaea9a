/**
 * Stands for whatever a service hands to its routes and resolvers: every member is a function that gives the same again.
 * Declarations are made with it, and nothing that does work is ever reached.
 */
export const standIn: never = new Proxy(() => {}, {
  // No promise, and nothing to iterate over: what waits for it or walks it goes on or fails, instead of for ever.
  get: (_target, name) => (name === "then" || typeof name === "symbol" ? undefined : standIn),
  apply: () => standIn,
}) as never;
