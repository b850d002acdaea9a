export type Settled =
  | { readonly state: "done" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "late" };

/** Runs the work and says how it ended, or that it had not ended in time. Never rejects. */
export async function settleWithin(work: () => unknown, milliseconds: number): Promise<Settled> {
  const late = Promise.withResolvers<Settled>();
  const timer = setTimeout(() => late.resolve({ state: "late" }), milliseconds);
  const done = (async (): Promise<Settled> => {
    try {
      await work();
      return { state: "done" };
    } catch (error) {
      return { state: "failed", error };
    }
  })();
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
