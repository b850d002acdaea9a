import type { GraphQLFormattedError } from "graphql";
import type { Loss } from "./subgraph-port.ts";

export type Path = readonly (string | number)[];

/** A placeholder for the missing result of a fetch. It has no members, so every field reads as absent. */
export class Missing {
  readonly #loss: Loss | null;

  /** Without a loss, the reason was already reported. */
  constructor(loss: Loss | null) {
    this.#loss = loss;
  }

  /** Returns the reason why a part lacks a value; null for a part that is not missing. */
  static reasonOf(part: unknown): Loss | "reported" | null {
    return part instanceof Missing ? (part.#loss ?? "reported") : null;
  }
}

/** An error of a subgraph, attached to the member that it is about. */
export interface MarkedError {
  readonly error: GraphQLFormattedError;
  /** The rest of its path, below that member. */
  readonly rest: Path;
}

type Holder = object;

/** Keeps the errors of subgraphs at their origin until the answer is written and their paths are known. */
export class ErrorMarks {
  readonly #marks = new Map<Holder, Map<string | number, MarkedError[]>>();

  mark(holder: Holder, member: string | number, marked: MarkedError): void {
    const members = this.#marks.get(holder) ?? new Map<string | number, MarkedError[]>();
    this.#marks.set(holder, members);
    members.set(member, [...(members.get(member) ?? []), marked]);
  }

  /** Marks the member at the end of the path, or the missing one above it. */
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
