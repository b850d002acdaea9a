import type { GraphQLFormattedError } from "graphql";
import type { Loss } from "./subgraph-port.ts";

export type Path = readonly (string | number)[];

/** Stands where a fetch brought nothing. It has no members, so every field of it reads as absent. */
export class Missing {
  readonly #loss: Loss | null;

  /** Without a loss the reason was told already. */
  constructor(loss: Loss | null) {
    this.#loss = loss;
  }

  /** Says why a value is missing that a part should have brought; null where the part is no such thing. */
  static reasonOf(part: unknown): Loss | "told" | null {
    return part instanceof Missing ? (part.#loss ?? "told") : null;
  }
}

/** An error of a subgraph, at the member of an object of its answer that it is about. */
export interface MarkedError {
  readonly error: GraphQLFormattedError;
  /** What of its path is below that member. */
  readonly rest: Path;
}

type Holder = object;

/** The errors of subgraphs, kept where they happened until the answer is written and their paths are known. */
export class ErrorMarks {
  readonly #marks = new Map<Holder, Map<string | number, MarkedError[]>>();

  mark(holder: Holder, member: string | number, marked: MarkedError): void {
    const members = this.#marks.get(holder) ?? new Map<string | number, MarkedError[]>();
    this.#marks.set(holder, members);
    members.set(member, [...(members.get(member) ?? []), marked]);
  }

  /** Marks the member that the path ends at, or the one above it that is missing. */
  markBelow(holder: Holder, first: string | number, path: Path, error: GraphQLFormattedError): void {
    let at = holder;
    let member = first;
    let rest = path;
    while (rest.length > 0) {
      const value = (at as Record<string | number, unknown>)[member];
      if (typeof value !== "object" || value === null || value instanceof Missing) break;
      at = value;
      [member = "", ...rest] = rest;
    }
    this.mark(at, member, { error, rest });
  }

  of(holder: unknown): ReadonlyMap<string | number, readonly MarkedError[]> | undefined {
    return this.#marks.get(holder as Holder);
  }

  get areNone(): boolean {
    return this.#marks.size === 0;
  }

  has(holder: unknown, member: string | number): boolean {
    return this.of(holder)?.has(member) ?? false;
  }
}
