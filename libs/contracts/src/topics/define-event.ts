import type { z } from "zod";
import type { Scope } from "../access/scopes.ts";
import type { TopicName } from "./topics.ts";

/** The readers of an event: its account, operators only, or services only. */
type EventAudience = "account" | "operator" | "internal";

/** One version of an event. */
export interface EventVersion<N extends string = string> {
  /** A fact in the past tense, without its version: `image.created`. */
  readonly name: N;
  /** Raised when a change would break a reader; the older version is then published beside it for twelve months. */
  readonly version: number;
}

/** One event, declared once. Types, schemas, documents, topics and webhook types all come from this. */
export interface EventDeclaration<N extends string = string, S extends z.ZodType = z.ZodType> extends EventVersion<N> {
  readonly topic: TopicName;
  /** Describes `subject`: the id of the aggregate, which is the key on the topic. Order holds per subject. */
  readonly subject: string;
  readonly audience: EventAudience;
  /** The scope that choosing it for an endpoint needs. No prefix shorter than its first word and dot includes it. */
  readonly scope?: Scope;
  readonly description: string;
  readonly data: S;
  readonly example: z.output<S>;
}

/** Declares an event. The names of its fields are the contract: they are only ever added to. */
export function defineEvent<const N extends string, S extends z.ZodType>(
  declaration: EventDeclaration<N, S>,
): EventDeclaration<N, S> {
  return Object.freeze(declaration);
}
