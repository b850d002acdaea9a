import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Answer } from "../parts/answer.tsx";
import { useFilters } from "../parts/lists.tsx";
import parts from "../parts/parts.module.css";
import { sourceNamesQuery } from "./sources.ts";

/** Shows a page about one source: that of the address, or the newest one. Without any source it leads to the first. */
export function ChosenSource({ children }: { readonly children: (id: string) => ReactNode }) {
  const [{ source_id: chosen }] = useFilters();
  const sources = useQuery(sourceNamesQuery);
  if (chosen) return children(chosen);
  return (
    <Answer
      query={sources}
      what="sources"
      isEmpty={(items) => items.length === 0}
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
export function SourceFilter({ id }: { readonly id: string }) {
  const [, change] = useFilters();
  const { data: sources = [] } = useQuery(sourceNamesQuery);
  return (
    <label className={parts.field}>
      <span>Source</span>
      <select value={id} onChange={({ target }) => change({ source_id: target.value })}>
        {sources.every((source) => source.id !== id) && <option value={id}>{id}</option>}
        {sources.map((source) => (
          <option key={source.id} value={source.id}>
            {source.name}
          </option>
        ))}
      </select>
    </label>
  );
}
