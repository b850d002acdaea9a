import { type EventData, type EventName, eventOf } from "./catalogue.ts";
import { unknownMembers } from "./unknown-members.ts";

interface Draft<N extends EventName> {
  readonly name: N;
  /** The aggregate's id and the key on the topic. */
  readonly subject: string;
  /** Whose event it is; null for what belongs to no account. */
  readonly accountId: string | null;
  readonly data: EventData<N>;
  /** Members of the data that are JSON texts already: they go out as they are written, with every digit of their numbers. */
  readonly raw?: Readonly<Record<string, string>>;
  /** CloudEvents extension attributes, for readers that decide without the data. Names are lower-case letters and digits. */
  readonly extensions?: Readonly<Record<string, string>>;
}

/**
 * An event that is about to become true: what the producer says of it, before id, time and trace are added. A union
 * over the names, so that a draft of one event is a draft of any.
 */
export type EventDraft<N extends EventName = EventName> = { readonly [K in N]: Draft<K> }[N];

/** Drafts an event. The outbox checks it with `draftProblems` in tests and development. */
export function draft<N extends EventName>(name: N, content: Omit<Draft<N>, "name">): EventDraft<N> {
  return { name, ...content } as EventDraft<N>;
}

/** Lists what is wrong with a draft, one sentence each: data that does not fit its schema, or members nobody declared. */
export function draftProblems(event: EventDraft): string[] {
  const result = eventOf(event.name).data.safeParse(event.data);
  if (!result.success) {
    return result.error.issues.map((issue) => `${event.name}: ${issue.path.join(".") || "data"}: ${issue.message}`);
  }
  const declared = eventOf(event.name).data.shape;
  const undeclared = Object.keys(event.raw ?? {}).filter((name) => !Object.hasOwn(declared, name));
  return [...unknownMembers(event.data, result.data), ...undeclared].map(
    (path) => `${event.name}: ${path}: not declared`,
  );
}
