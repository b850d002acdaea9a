import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Answer } from "../parts/answer.tsx";
import { Curl, Filters, Pager, TimeFilter, useFilters } from "../parts/lists.tsx";
import { type Column, Table } from "../parts/page.tsx";
import parts from "../parts/parts.module.css";
import { SourceFilter } from "./source-filter.tsx";

interface PageOf<Row> {
  readonly items: readonly Row[];
  readonly next_cursor?: string | undefined;
}

/** The source of a list, and the query of one of its pages. */
interface Asked {
  readonly path: { readonly id: string };
  readonly query: object;
}

interface SourceListProps<Row> {
  readonly id: string;
  /** Last part of the list's address, below the source. */
  readonly name: "received" | "rejections";
  readonly label: string;
  readonly read: (params: Asked) => Promise<PageOf<Row>>;
  /** Filters of this list alone, between the source and the times. */
  readonly filters: ReactNode;
  /** Ways to what belongs to it, after the source itself. */
  readonly links: ReactNode;
  readonly empty: (isFiltered: boolean) => string;
  readonly columns: readonly Column<Row>[];
}

/** Lists what came to one source, newest first. */
export function SourceList<Row extends { readonly id: string }>(props: SourceListProps<Row>) {
  const { id, name, label, read, filters, links, empty, columns } = props;
  const [{ source_id: _, ...search }] = useFilters();
  const list = useQuery({
    queryKey: [name, id, search],
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor === undefined ? 10_000 : false,
    queryFn: () => read({ path: { id }, query: { ...search, limit: 25 } }),
  });
  return (
    <>
      <Filters>
        <SourceFilter id={id} />
        {filters}
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="Until" />
      </Filters>
      <p className={parts.row}>
        <Link to="/webhooks/sources/$id" params={{ id }}>
          The source
        </Link>
        {links}
      </p>
      <Answer
        query={list}
        what={label.toLowerCase()}
        isEmpty={({ items }) => items.length === 0}
        empty={<p>{empty(Object.keys(search).length > 0)}</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table label={label} rows={items} keyOf={(row) => row.id} columns={columns} />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={`api/v1/webhooks/sources/${id}/${name}`} query={search} />
    </>
  );
}
