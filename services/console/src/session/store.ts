import { useSyncExternalStore } from "react";

/** A value of the whole page that several places show. */
export class Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  /** Puts another value in its place, and tells those that listen. */
  set(value: Value): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after each change, until the returned function is called. */
  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Returns the value of a store, also when it becomes another one. */
export const useStore = <Value>(store: Store<Value>): Value => useSyncExternalStore(store.listen, () => store.value);
