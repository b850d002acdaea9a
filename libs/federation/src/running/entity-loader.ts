import type { FetchStep } from "../planning/compiled-query-plan.ts";
import type { SubgraphAnswer } from "../subgraphs/subgraph-port.ts";

/** Representations that are sent together, with their answer. */
export interface Batch {
  readonly texts: string[];
  readonly answer: Promise<SubgraphAnswer>;
}

/** The position of a representation's entity: the batch and the index in it. */
export interface Slot {
  readonly batch: Batch;
  readonly at: number;
}

interface OpenBatch extends Batch {
  readonly send: () => void;
}

type Send = (body: string) => Promise<SubgraphAnswer>;

/**
 * Loads the entities of one request. Fetches that send the same query to a subgraph share a loader: each representation
 * is sent once, and those requested in one turn of the event loop are sent together.
 */
export class EntityLoader {
  readonly #slots = new Map<string, Map<string, Slot>>();
  readonly #open = new Map<string, OpenBatch>();

  /**
   * Returns a function that adds a representation to a query; the query is the request body up to the representations.
   */
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

  /** Drops loaded entities, which a mutation may have changed. */
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
    // Waits for answers of this turn, which may request the same query.
    setImmediate(() => {
      this.#open.delete(key);
      batch.send();
    });
    return batch;
  }
}
