/** A list in the document of an export. */
export interface ExportSection {
  /** The member of the document. */
  readonly name: string;
  /** The items of an account, page by page, each read when the one before is on its way. */
  readonly pages: (accountId: string) => AsyncGenerator<readonly unknown[]>;
}

interface OwnList<Row, Position> {
  readonly list: (
    accountId: string,
    options: { readonly after: Position | null; readonly limit: number },
  ) => Promise<readonly Row[]>;
  readonly positionOf: (row: Row) => Position;
  readonly view: (row: Row) => unknown;
}

const pageSize = 100;

/** A section that this service holds itself. */
export function ownSection<Row, Position>(name: string, own: OwnList<Row, Position>): ExportSection {
  const { list, positionOf, view } = own;
  return {
    name,
    async *pages(accountId) {
      for (let after: Position | null = null; ; ) {
        const rows: readonly Row[] = await list(accountId, { after, limit: pageSize });
        yield rows.map(view);
        const last = rows.at(-1);
        if (last === undefined || rows.length < pageSize) return;
        after = positionOf(last);
      }
    },
  };
}
