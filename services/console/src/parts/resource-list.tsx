import {
  keepPreviousData,
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
} from "@tanstack/react-query";
import { useCanGoBack, useRouter } from "@tanstack/react-router";
import { type ComponentProps, type ReactNode, useState } from "react";
import { Answer } from "./answer.tsx";
import { Button } from "./button.tsx";
import { optionsOf } from "./fields.tsx";
import { Curl, type FilterFields, Filters, useFilters } from "./lists.tsx";
import { type Columns, Panel, Table } from "./page.tsx";
import styles from "./parts.module.css";
import { steadyRows } from "./steady-rows.ts";

export interface Paged<Row> {
  readonly items: readonly Row[];
  readonly next_cursor?: string | null | undefined;
}

/** The query of a page of a list. Its filters are texts of the address, which the API judges. */
export interface ListQuery {
  readonly limit: number;
  readonly cursor?: string;
}

interface RowsProps<Row> {
  /** The name of the table. */
  readonly label: string;
  readonly columns?: Columns<Row>;
  /** Shows the rows otherwise than in a table. */
  readonly show?: (rows: readonly Row[]) => ReactNode;
  /** Tells rows apart. Default: by their `id`. */
  readonly keyOf?: (row: Row) => string;
}

interface ResourceListProps<Row, Data extends Paged<Row>> extends RowsProps<Row> {
  /** One of the things that it lists. */
  readonly noun: string;
  /** Address of the list below that of the deployment. */
  readonly path: string;
  readonly read: (query: ListQuery) => PromiseLike<Data & Paged<Row>>;
  /** The call that reads it, where that is no GET of its address. */
  readonly call?: ComponentProps<typeof Curl>;
  readonly filters?: FilterFields;
  /** A filter of another kind. */
  readonly moreFilters?: ReactNode;
  /** Shown where there is none, though nothing is filtered. */
  readonly empty: ReactNode;
  /** Shown above the rows. */
  readonly above?: (data: Data) => ReactNode;
  /** Joins the rows with what is known besides. Default: the items. */
  readonly rowsOf?: (data: Data) => readonly Row[];
  readonly pageSize?: number;
  /** The interval at which its first page is read again; the rows stay where they are under the pointer. */
  readonly everyMs?: number | false | ((data: Data) => number | false);
  /** True where each read is an entry in an audit. */
  readonly isAudited?: boolean;
}

/**
 * A list of the API: its filters, which are in the address of the page, its rows, the way to its other pages, and the
 * call that reads the same.
 */
export function ResourceList<Row extends object, Data extends Paged<Row>>(props: ResourceListProps<Row, Data>) {
  const { label, noun, path, read, filters = {}, moreFilters, empty, above, rowsOf = itemsOf, pageSize = 25 } = props;
  const { everyMs, isAudited = false, call } = props;
  const [search] = useFilters();
  const { limit, cursor } = search;
  const chosen = Object.fromEntries(Object.entries(search).filter(([name, value]) => value && name in filters));
  const query = { ...chosen, ...(cursor && { cursor }), limit: Number(limit) || pageSize };
  const list = useQuery({
    // The name of what it lists comes first, so that a subscription can say that it has changed.
    queryKey: [path.split("/").at(-1), path, query],
    queryFn: async () => ({ data: await read(query), asked: JSON.stringify(query) }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: !isAudited,
    refetchInterval: ({ state }) =>
      typeof everyMs === "function" ? (state.data ? everyMs(state.data.data) : false) : !cursor && (everyMs ?? false),
  });
  const nothing = Object.keys(chosen).length > 0 ? `No ${noun} matches these filters.` : empty;
  return (
    <>
      {(moreFilters || Object.keys(filters).length > 0) && <Filters fields={filters}>{moreFilters}</Filters>}
      <Answer
        query={list}
        what={label.toLowerCase()}
        isEmpty={({ data }) => !cursor && rowsOf(data).length === 0}
        empty={nothing}
        above={({ data }) => above?.(data)}
      >
        {({ data, asked }) => (
          <Rows
            {...props}
            key={asked}
            rows={rowsOf(data)}
            next={data.next_cursor ?? undefined}
            pageSize={pageSize}
            isSteady={everyMs !== undefined}
          />
        )}
      </Answer>
      <Curl {...(call ?? { path, query: { ...chosen, cursor, limit } })} />
    </>
  );
}

const itemsOf = <Row,>({ items }: Paged<Row>): readonly Row[] => items;
const idOf = (row: { readonly id?: string }): string => row.id ?? "";

interface ShownRowsProps<Row> extends RowsProps<Row>, PagerProps {
  readonly rows: readonly Row[];
  readonly isSteady: boolean;
}

/** The rows below the way to other pages. New ones wait while the pointer is over them. */
function Rows<Row extends object>(props: ShownRowsProps<Row>) {
  const { label, columns = {}, show, keyOf = idOf, rows, isSteady, ...pager } = props;
  const [held, setHeld] = useState<readonly Row[] | null>(null);
  const { shown, waiting } = held ? steadyRows(held, rows, keyOf) : { shown: rows, waiting: 0 };
  return (
    <>
      <Pager {...pager} count={shown.length}>
        {waiting > 0 && <Button label={`Show ${waiting} new`} onClick={() => setHeld(rows)} />}
      </Pager>
      <div
        onPointerEnter={({ pointerType }) => isSteady && pointerType === "mouse" && setHeld(rows)}
        onPointerLeave={() => setHeld(null)}
      >
        {show ? show(shown) : <Table label={label} rows={shown} keyOf={keyOf} columns={columns} />}
      </div>
    </>
  );
}

const pageSizes = [10, 25, 50, 100];

interface PagerProps {
  readonly next: string | undefined;
  readonly pageSize: number;
}

/** The number of rows, and the ways to other pages, above the rows: the keyboard is there at once. */
function Pager({
  next,
  pageSize,
  count,
  children,
}: PagerProps & { readonly count: number; readonly children: ReactNode }) {
  const [{ cursor, limit = String(pageSize) }, change] = useFilters();
  const { history } = useRouter();
  const canGoBack = useCanGoBack();
  const rows = count === 1 ? "1 row" : `${count} rows`;
  const sizes = [...new Set([...pageSizes, Number(limit)])].toSorted((one, other) => one - other).map(String);
  return (
    <nav className={styles.head} aria-label="Pages">
      <span className={styles.row}>
        <span className={styles.quiet}>{next ? `${rows}, more follow` : cursor ? `the last ${rows}` : rows}</span>
        {children}
      </span>
      {(next || cursor || limit !== String(pageSize)) && (
        <span className={styles.row}>
          {cursor && canGoBack && <Button label="Previous page" onClick={() => history.back()} />}
          {cursor && <Button label="First page" onClick={() => change({})} />}
          {next && <Button label="Next page" onClick={() => change({ cursor: next })} />}
          <select aria-label="Rows of a page" value={limit} onChange={({ target }) => change({ limit: target.value })}>
            {optionsOf(sizes.map((size) => [size, `${size} rows`] as const))}
          </select>
        </span>
      )}
    </nav>
  );
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
  readonly read: () => PromiseLike<readonly Row[] | Paged<Row>>;
  readonly options?: Pick<UseQueryOptions, "refetchInterval" | "refetchOnWindowFocus">;
  /** Shown above and below the rows. */
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** A panel with a list that is whole on its page. */
export function PanelList<Row extends object>(props: PanelListProps<Row>) {
  const { title, what = title.toLowerCase(), actions, queryKey, read, options = {}, lead, children, ...list } = props;
  const query = useQuery({ ...(options as object), queryKey, queryFn: async () => await read() });
  return (
    <Panel title={title} actions={actions}>
      {lead}
      <Listing query={query} what={what} label={title} {...list} />
      {children}
    </Panel>
  );
}
