import { type EventData, type EventName, eventOf } from "./catalogue.ts";
import { unknownMembers } from "./unknown-members.ts";

interface Draft<N extends EventName> {
  readonly name: N;
  /** The aggregate's id and the key on the topic. */
  readonly subject: string;
  /** Whose event it is; null for what belongs to no account. */
  readonly accountId: string | null;
  readonly data: EventData<N>;
}

/**
 * An event that is about to become true: what the producer says of it, before id, time and trace are added. A union
 * over the names, so that a draft of one event is a draft of any.
 */
export type EventDraft<N extends EventName = EventName> = { readonly [K in N]: Draft<K> }[N];

/** Drafts an event. The outbox checks it with `draftProblems` in tests and development. */
export function draft<N extends EventName>(
  name: N,
  content: { subject: string; accountId: string | null; data: EventData<N> },
): EventDraft<N> {
  const made: Draft<N> = { name, subject: content.subject, accountId: content.accountId, data: content.data };
  return made as EventDraft<N>;
}

/** Lists what is wrong with a draft, one sentence each: data that does not fit its schema, or members nobody declared. */
export function draftProblems(event: EventDraft): string[] {
  const result = eventOf(event.name).data.safeParse(event.data);
  if (!result.success) {
    return result.error.issues.map((issue) => `${event.name}: ${issue.path.join(".") || "data"}: ${issue.message}`);
  }
  return unknownMembers(event.data, result.data).map((path) => `${event.name}: ${path}: not declared`);
}
