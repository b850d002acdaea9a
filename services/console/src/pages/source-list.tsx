import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Answer } from "../parts/answer.tsx";
import { optionsOf } from "../parts/fields.tsx";
import { type FilterFields, timeRange, useFilters } from "../parts/lists.tsx";
import type { Columns } from "../parts/page.tsx";
import parts from "../parts/parts.module.css";
import { type ListQuery, type Paged, ResourceList } from "../parts/resource-list.tsx";
import { SourceLink } from "./links.tsx";
import { sourceNamesQuery } from "./sources.ts";

interface SourceListProps<Row> {
  readonly id: string;
  /** Last part of the list's address, below the source. */
  readonly name: "received" | "rejections";
  readonly label: string;
  readonly noun: string;
  readonly read: (query: ListQuery) => PromiseLike<Paged<Row>>;
  /** Filters of this list alone, between the source and the times. */
  readonly filters: FilterFields;
  /** Ways to what belongs to it, after the source itself. */
  readonly links: ReactNode;
  readonly empty: string;
  readonly columns: Columns<Row>;
}

/** Lists what came to one source, newest first. */
export const SourceList = <Row extends object>({ id, name, links, filters, ...list }: SourceListProps<Row>) => (
  <>
    <p className={parts.row}>
      <SourceLink id={id}>The source</SourceLink>
      {links}
    </p>
    <ResourceList
      {...list}
      path={`api/v1/webhooks/sources/${id}/${name}`}
      everyMs={10_000}
      moreFilters={<SourceFilter id={id} />}
      filters={{ ...filters, ...timeRange }}
    />
  </>
);

/** Shows a page about one source: that of the address, or the newest one. Without any source it leads to the first. */
export function ChosenSource({ children }: { readonly children: (id: string) => ReactNode }) {
  const [{ source_id: chosen }] = useFilters();
  const sources = useQuery(sourceNamesQuery);
  if (chosen) return children(chosen);
  return (
    <Answer
      query={sources}
      what="sources"
      empty={
        <p>
          There is no source yet. <Link to="/webhooks/connect">Connect a sender</Link>, and its webhooks are listed
          here.
        </p>
      }
    >
      {([newest]) => newest && children(newest.id)}
    </Answer>
  );
}

/** The filter that chooses a source by its name. */
function SourceFilter({ id }: { readonly id: string }) {
  const [, change] = useFilters();
  const { data: sources = [] } = useQuery(sourceNamesQuery);
  return (
    <label className={parts.field}>
      <span>Source</span>
      <select value={id} onChange={({ target }) => change({ source_id: target.value })}>
        {sources.every((source) => source.id !== id) && <option value={id}>{id}</option>}
        {optionsOf(sources.map((source) => [source.id, source.name]))}
      </select>
    </label>
  );
}
