import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answer } from "./answer.tsx";
import { type Columns, Table } from "./page.tsx";
import { idOf, type Paged } from "./resource-list.tsx";

interface ListingProps<Row> {
  readonly query: UseQueryResult<readonly Row[] | Paged<Row>>;
  /** The things that load, as in "Loading endpoints …". */
  readonly what: string;
  readonly empty: ReactNode;
  readonly label: string;
  readonly columns: Columns<Row>;
  /** Tells rows apart. Default: by their `id`. */
  readonly keyOf?: (row: Row) => string;
}

/** A list that is whole on its page, as a table: its state while there is no answer, then its rows. */
export const Listing = <Row extends object>({ query, what, empty, keyOf = idOf, ...table }: ListingProps<Row>) => (
  <Answer query={query} what={what} empty={empty}>
    {(data) => <Table rows={"items" in data ? data.items : data} keyOf={keyOf} {...table} />}
  </Answer>
);
