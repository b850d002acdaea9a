import { type QueryKey, type UseQueryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answer } from "./answer.tsx";
import { type Columns, Panel, Table } from "./page.tsx";
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

interface PanelListProps<Row> extends Omit<ListingProps<Row>, "query" | "what" | "label"> {
  /** The things that load. Default: the title. */
  readonly what?: string;
  /** The heading of the panel, and the name of the table. */
  readonly title: string;
  readonly actions?: ReactNode;
  readonly queryKey: QueryKey;
  readonly read: () => Promise<readonly Row[] | Paged<Row>>;
  readonly options?: Pick<UseQueryOptions, "refetchInterval" | "refetchOnWindowFocus">;
  /** Shown above and below the rows. */
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** A panel with a list that is whole on its page. */
export function PanelList<Row extends object>(props: PanelListProps<Row>) {
  const { title, what = title.toLowerCase(), actions, queryKey, read, options = {}, lead, children, ...list } = props;
  const query = useQuery({ ...(options as object), queryKey, queryFn: read });
  return (
    <Panel title={title} actions={actions}>
      {lead}
      <Listing query={query} what={what} label={title} {...list} />
      {children}
    </Panel>
  );
}
