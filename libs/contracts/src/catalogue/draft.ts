import { type EventData, type EventName, eventOf } from "./event-catalogue.ts";

interface Draft<N extends EventName> {
  readonly name: N;
  /** The aggregate's id and the key on the topic. */
  readonly subject: string;
  /** The account of the event; null for none. */
  readonly accountId: string | null;
  readonly data: EventData<N>;
  /** Members of the data that are JSON texts already: they go out as they are written, with every digit of their numbers. */
  readonly raw?: Readonly<Record<string, string>>;
  /** CloudEvents extension attributes, for readers that decide without the data. Names are lower-case letters and digits. */
  readonly extensions?: Readonly<Record<string, string>>;
}

/**
 * An event that is about to become true: the producer's part of it, before id, time and trace are added. A union over
 * the catalogue, so that the name decides the type of the data.
 */
export type EventDraft<N extends EventName = EventName> = { readonly [K in N]: Draft<K> }[N];

/** Drafts an event. The outbox checks it with `draftProblems` in tests and development. */
export function draft<N extends EventName>(name: N, content: Omit<Draft<N>, "name">): EventDraft<N> {
  return { name, ...content } as EventDraft<N>;
}

/** Lists the faults of a draft, one sentence each: data that does not fit its schema, or undeclared members. */
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

/**
 * Lists the paths of members that `given` has and `parsed` lacks: those removed by a schema that strips unknown
 * members.
 */
export function unknownMembers(given: unknown, parsed: unknown, path = ""): string[] {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    return given.flatMap((item, index) => unknownMembers(item, parsed[index], `${path}[${index}]`));
  }
  if (!isPlainObject(given) || !isPlainObject(parsed)) return [];
  return Object.entries(given).flatMap(([name, value]) => {
    const member = path === "" ? name : `${path}.${name}`;
    if (value === undefined) return [];
    return Object.hasOwn(parsed, name) ? unknownMembers(value, parsed[name], member) : [member];
  });
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
