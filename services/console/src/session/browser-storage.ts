/** The texts of a storage of the browser. A frame of another site may not use it, and it may be full. */
class BrowserStorage {
  readonly #open: () => Storage;
  /** Texts that the browser did not take; they live as long as the page. */
  readonly #ofPage = new Map<string, string>();

  constructor(open: () => Storage) {
    this.#open = open;
  }

  get(key: string): string | null {
    return this.#ofPage.get(key) ?? this.#try((storage) => storage.getItem(key), null);
  }

  set(key: string, text: string): void {
    const write = (storage: Storage) => {
      storage.setItem(key, text);
      return true;
    };
    if (this.#try(write, false)) this.#ofPage.delete(key);
    else this.#ofPage.set(key, text);
  }

  remove(key: string): void {
    this.#ofPage.delete(key);
    this.#try((storage) => storage.removeItem(key), undefined);
  }

  keys(): string[] {
    return [...this.#ofPage.keys(), ...this.#try((storage) => Object.keys(storage), [])];
  }

  #try<Result>(use: (storage: Storage) => Result, otherwise: Result): Result {
    try {
      return use(this.#open());
    } catch {
      return otherwise;
    }
  }
}

/** For this tab alone. */
export const tabStorage = new BrowserStorage(() => sessionStorage);

/** For every tab of this browser. */
export const lastingStorage = new BrowserStorage(() => localStorage);
