/** A section whose first page was read. */
export interface StartedSection {
  readonly name: string;
  readonly first: readonly unknown[];
  readonly rest: AsyncIterable<readonly unknown[]>;
}

/**
 * Writes the text of an export, page by page. `complete` comes last: a truncated document lacks it, wherever it was
 * cut, and is not valid JSON either.
 */
export async function* exportDocument(
  head: Readonly<Record<string, unknown>>,
  sections: readonly StartedSection[],
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},`;
  for (const { name, first, rest } of sections) {
    yield `${JSON.stringify(name)}:[${textOf(first)}`;
    let isEmpty = first.length === 0;
    for await (const items of rest) {
      if (items.length === 0) continue;
      yield `${isEmpty ? "" : ","}${textOf(items)}`;
      isEmpty = false;
    }
    yield "],";
  }
  yield '"complete":true}';
}

const textOf = (items: readonly unknown[]): string => JSON.stringify(items).slice(1, -1);
