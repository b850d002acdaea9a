import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FormEvent, ReactNode } from "react";
import { useIsPortal } from "../session/api.ts";
import { deploymentUrl } from "../session/place.ts";
import { Button } from "./button.tsx";
import { curlText } from "./curl-text.ts";
import { type Choices, optionsOf } from "./fields.tsx";
import { Code } from "./inline.tsx";
import styles from "./parts.module.css";

export type Search = Readonly<Record<string, string | undefined>>;

/** The filters of a page, which are in its address: what a person sees can be sent to another. */
export function useFilters(): readonly [Search, (change: Search) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  // A new filter begins at the first page.
  const change = (changed: Search) =>
    void navigate({ to: ".", search: cleaned({ ...search, cursor: undefined, ...changed }), replace: true });
  return [search, change];
}

const cleaned = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ""));

/** The form of the filters. Enter or leaving a field applies it. */
export function Filters({ label = "Filters", children }: { readonly label?: string; readonly children: ReactNode }) {
  const stay = (event: FormEvent) => event.preventDefault();
  return (
    <search aria-label={label}>
      <form className={styles.filters} onSubmit={stay} aria-label={label}>
        {children}
      </form>
    </search>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
}

/** A filter that is typed. */
export function TextFilter({ name, label, type = "text" }: FilterProps & { readonly type?: string }) {
  const [search, change] = useFilters();
  const apply = (value: string) => value !== (search[name] ?? "") && change({ [name]: value.trim() });
  return (
    <label className={styles.field}>
      <span>{label}</span>
      <input
        key={search[name] ?? ""}
        type={type}
        defaultValue={search[name] ?? ""}
        spellCheck={false}
        autoComplete="off"
        onBlur={({ target }) => apply(target.value)}
        onKeyDown={({ key, currentTarget }) => key === "Enter" && apply(currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps extends FilterProps {
  readonly choices: Choices;
  /** The word for no choice. */
  readonly any?: string;
}

/** A filter with the values that the API knows. */
export function ChoiceFilter({ name, label, choices, any = "any" }: ChoiceProps) {
  const [search, change] = useFilters();
  return (
    <label className={styles.field}>
      <span>{label}</span>
      <select value={search[name] ?? ""} onChange={({ target }) => change({ [name]: target.value })}>
        <option value="">{any}</option>
        {optionsOf(choices)}
      </select>
    </label>
  );
}

/** A filter from or until a moment, typed in the zone of the browser and sent as UTC. */
export function TimeFilter({ name, label }: FilterProps) {
  const [search, change] = useFilters();
  const own = search[name];
  return (
    <label className={styles.field}>
      <span>{label}</span>
      <input
        type="datetime-local"
        key={own ?? ""}
        defaultValue={own === undefined ? "" : localValue(own)}
        onBlur={({ target }) =>
          change({ [name]: target.value && new Date(target.value).toISOString(), cursor: search.cursor })
        }
      />
    </label>
  );
}

function localValue(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The way to the next page of a list, and back to the first. */
export function Pager({ next }: { readonly next: string | undefined }) {
  const [{ cursor }, change] = useFilters();
  if (!next && !cursor) return null;
  return (
    <nav className={styles.row} aria-label="Pages">
      {cursor && <Button label="First page" onClick={() => change({ cursor: undefined })} />}
      {next && <Button label="Next page" onClick={() => change({ cursor: next })} />}
    </nav>
  );
}

/** The call that shows the same as the page, to paste into a terminal. */
export function Curl(call: Parameters<typeof curlText>[1]) {
  if (useIsPortal()) return null;
  return (
    <details>
      <summary>The same with curl</summary>
      <Code text={curlText(deploymentUrl.href, call)} label={`curl of ${call.method ?? "GET"} ${call.path}`} />
    </details>
  );
}
