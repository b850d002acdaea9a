/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly has_more: boolean;
  /** Absent on the last page. */
  readonly next_cursor?: string | null;
}

/**
 * A list that is read as far as it is used: `for await (const item of list)` goes through all pages, `await list` reads
 * the first one, and `list.pages()` goes from page to page.
 */
export class Pages<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, as the methods beside it are.
  then<One = Page<Item>, Other = never>(
    onPage?: ((page: Page<Item>) => One | PromiseLike<One>) | null,
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    return this.#read(undefined).then(onPage, onError);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}
