import {
  keepPreviousData,
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
} from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answer } from "./answer.tsx";
import { Pager } from "./lists.tsx";
import { type Columns, Table } from "./page.tsx";

export interface Paged<Row> {
  readonly items: readonly Row[];
  readonly next_cursor?: string | null | undefined;
}

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

/** A list from the API as a table: its state while there is no answer, its rows, and the way to its other pages. */
export function Listing<Row extends object>({ query, what, empty, label, columns, keyOf = idOf }: ListingProps<Row>) {
  return (
    <Answer query={query} what={what} empty={empty}>
      {(data) => (
        <>
          <Table label={label} rows={pageOf(data).items} keyOf={keyOf} columns={columns} />
          <Pager next={pageOf(data).next_cursor ?? undefined} />
        </>
      )}
    </Answer>
  );
}

const idOf = (row: { readonly id?: string }): string => row.id ?? "";

const pageOf = <Row,>(data: readonly Row[] | Paged<Row>): Paged<Row> => ("items" in data ? data : { items: data });

/** Reads a page of a list; the page before it is shown until it has come. */
export const useList = <Data,>(
  queryKey: QueryKey,
  queryFn: () => Promise<Data>,
  options: Pick<UseQueryOptions<Data>, "refetchInterval" | "refetchOnWindowFocus"> = {},
): UseQueryResult<Data> => useQuery({ queryKey, queryFn, placeholderData: keepPreviousData, ...options });
