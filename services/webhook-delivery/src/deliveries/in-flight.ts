interface Lane {
  readonly attempts: Set<Promise<void>>;
  /** How many this endpoint may have at once. */
  max: number;
}

/** The attempts that this instance is making, by endpoint. */
export function createInFlight() {
  const lanes = new Map<string, Lane>();
  const all = () => [...lanes.values()].flatMap(({ attempts }) => [...attempts]);

  return {
    count: (): number => all().length,
    countOf: (endpointId: string): number => lanes.get(endpointId)?.attempts.size ?? 0,
    /** The endpoints that may not get another attempt now. */
    fullEndpoints: (): string[] => [...lanes].filter(([, { attempts, max }]) => attempts.size >= max).map(([id]) => id),
    /** Counts the attempt, which must not reject, until it ends; resolves when it counts no more. */
    add(endpointId: string, attempt: Promise<void>, max: number): Promise<void> {
      const lane = lanes.get(endpointId) ?? { attempts: new Set(), max };
      lane.max = max;
      lanes.set(endpointId, lane);
      lane.attempts.add(attempt);
      return attempt.then(() => {
        lane.attempts.delete(attempt);
        if (lane.attempts.size === 0) lanes.delete(endpointId);
      });
    },
    settled: async (): Promise<void> => void (await Promise.all(all())),
  };
}
