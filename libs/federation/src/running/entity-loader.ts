import type { FetchStep } from "../planning/compiled-plan.ts";
import type { SubgraphAnswer } from "./subgraph-port.ts";

/** Representations that travel together, and what came back for them. */
export interface Batch {
  readonly texts: string[];
  readonly answer: Promise<SubgraphAnswer>;
}

/** Where the entity of a representation is found: in which answer, at which place. */
export interface Slot {
  readonly batch: Batch;
  readonly at: number;
}

interface OpenBatch extends Batch {
  readonly send: () => void;
}

type Send = (body: string) => Promise<SubgraphAnswer>;

/**
 * Loads the entities of one request. Fetches that ask the same question of a subgraph share a loader: each representation is
 * sent once, and what is asked for in one turn of the event loop travels together.
 */
export class EntityLoader {
  readonly #slots = new Map<string, Map<string, Slot>>();
  readonly #open = new Map<string, OpenBatch>();

  /** Gives what takes the representations of a question, which is the body up to them. */
  ask(question: string, { subgraph }: FetchStep, send: Send): (representation: string) => Slot {
    const key = `${subgraph} ${question}`;
    const slots = this.#slots.get(key) ?? new Map<string, Slot>();
    this.#slots.set(key, slots);
    const sendAll: Send = (all) => send(`${question}"representations":[${all}]}}`);
    return (representation) => {
      const known = slots.get(representation);
      if (known) return known;
      const slot = this.#add(key, representation, sendAll);
      slots.set(representation, slot);
      return slot;
    };
  }

  /** What was loaded before a mutation may have been changed by it. */
  forget(): void {
    this.#slots.clear();
  }

  #add(key: string, text: string, send: Send): Slot {
    const batch = this.#open.get(key) ?? this.#openBatch(key, send);
    batch.texts.push(text);
    return { batch, at: batch.texts.length - 1 };
  }

  #openBatch(key: string, send: Send): OpenBatch {
    const texts: string[] = [];
    const { promise, resolve } = Promise.withResolvers<SubgraphAnswer>();
    const batch: OpenBatch = { texts, answer: promise, send: () => resolve(send(texts.join())) };
    this.#open.set(key, batch);
    // Answers that arrive in this turn may ask the same.
    setImmediate(() => {
      this.#open.delete(key);
      batch.send();
    });
    return batch;
  }
}
