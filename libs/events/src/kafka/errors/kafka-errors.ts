/** The fields of a kafkajs error that matter here. */
interface KafkaError {
  readonly name?: string;
  /** The broker's name of the error. */
  readonly type?: string;
  readonly cause?: unknown;
}

/** Yields the error and its causes: kafkajs wraps errors of retried requests. */
export function* linksOf(error: unknown): Generator<KafkaError> {
  for (let link = error as KafkaError | undefined; link; link = link.cause as KafkaError | undefined) yield link;
}

/** A request that took too long and was broken off. */
export class LateAnswer extends Error {
  override readonly name = "LateAnswer";
}

const unreachable = new Set([
  "LateAnswer",
  "KafkaJSConnectionError",
  "KafkaJSConnectionClosedError",
  "KafkaJSRequestTimeoutError",
  "KafkaJSBrokerNotFound",
  "KafkaJSLockTimeout",
  "KafkaJSGroupCoordinatorNotFound",
]);
const moving = new Set([
  "LEADER_NOT_AVAILABLE",
  "NOT_LEADER_FOR_PARTITION",
  "FENCED_LEADER_EPOCH",
  "UNKNOWN_LEADER_EPOCH",
  "REPLICA_NOT_AVAILABLE",
  "OFFSET_NOT_AVAILABLE",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "GROUP_LOAD_IN_PROGRESS",
  "NOT_COORDINATOR_FOR_GROUP",
]);

const leaving = new Set(["REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"]);

/**
 * Returns true when a member has to join its group again, which kafkajs does for these errors alone; after all others
 * it continues.
 */
export function endsMembership(error: unknown): boolean {
  return leaving.has((error as KafkaError | null)?.type ?? "");
}

/** Returns true when a broker does not answer. */
export function isUnreachable(error: unknown): boolean {
  return [...linksOf(error)].some(({ name = "" }) => unreachable.has(name));
}

/** Returns true while the duties of a broker move to another one. */
export function isMoving(error: unknown): boolean {
  return [...linksOf(error)].some(({ type = "" }) => moving.has(type));
}

/** Returns true when waiting and asking again helps. */
export function isAway(error: unknown): boolean {
  return isUnreachable(error) || isMoving(error);
}
