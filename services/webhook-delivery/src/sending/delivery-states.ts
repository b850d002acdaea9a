/**
 * The states of a leased delivery in one instance, and what leads from one to the next. The row in the queue is the
 * other half of a delivery's state, and decides between instances: a lease writes its end into the row, and a result
 * or a hand-back counts only for the row with that time.
 *
 * | state | place | the row |
 * |---|---|---|
 * | `away` | not in this instance | free, leased by another instance, or gone |
 * | `waiting` | in its endpoint's lane | leased to this instance |
 * | `attempting` | on a connection | leased to this instance |
 * | `recording` | in the batch of results | leased to this instance; another one may take it over once the lease has expired |
 */
const deliveryStates = {
  away: {
    /** Leased by a claim, or in the transaction that created it. */
    lease: "waiting",
    /** Leased for a test of its endpoint, which starts at once. */
    leaseForTest: "attempting",
  },
  waiting: {
    start: "attempting",
    /** Back to its place in the queue: the endpoint was paused or became slow, the time ran out, or the process stops. */
    handBack: "away",
  },
  attempting: {
    answer: "recording",
    /** Nothing was sent, by our fault: the lease expires, and the delivery is attempted again. */
    fail: "away",
  },
  recording: {
    /** The row is gone, due later, or already another instance's. */
    record: "away",
  },
} as const;

export type DeliveryState = keyof typeof deliveryStates;
export type DeliveryStep = { [State in DeliveryState]: keyof (typeof deliveryStates)[State] }[DeliveryState];

/** Returns the state after a step. @throws Error for a step that the state does not allow. */
export function stateAfter(state: DeliveryState, step: DeliveryStep): DeliveryState {
  const next = (deliveryStates[state] as Partial<Record<DeliveryStep, DeliveryState>>)[step];
  if (next === undefined) throw new Error(`a delivery that is ${state} cannot ${step}`);
  return next;
}
