import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useIsPortal } from "../session/api.ts";
import { deploymentUrl } from "../session/place.ts";
import { Code } from "./code.tsx";
import { curlText } from "./curl-text.ts";
import { type Choices, optionsOf } from "./fields.tsx";
import styles from "./parts.module.css";
import { type TimeChoice, useTimeChoice } from "./time-choice.ts";
import { zoneName } from "./time-text.ts";

export type Search = Readonly<Record<string, string | undefined>>;

/** The filters of a page, which are in its address: what a person sees can be sent to another. */
export function useFilters(): readonly [Search, (change: Search) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  // A new filter begins at the first page. Back returns through pages, but not through every letter of a filter.
  const change = ({ cursor, ...changed }: Search) =>
    void navigate({
      to: ".",
      search: (before: Search) => cleaned({ ...before, cursor, ...changed }),
      replace: cursor === undefined,
    } as never);
  return [search, change];
}

const cleaned = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ""));

interface FilterField {
  readonly label: string;
  readonly type?: "text" | "number" | "datetime-local";
  /** The values that the API knows. */
  readonly choices?: Choices;
  /** The word for no choice. */
  readonly any?: string;
}

/** Filters by their names in the address. One that is typed needs a label alone. */
export type FilterFields = Readonly<Record<string, string | FilterField>>;

/** A filter with the values that the API knows. */
export const choice = (label: string, choices: Choices, any = "any"): FilterField => ({ label, choices, any });

/** A filter from or until a moment, typed in the chosen zone and sent as UTC. */
export const moment = (label: string): FilterField => ({ label, type: "datetime-local" });

/** The filters of a list that is ordered by time. */
export const timeRange: FilterFields = { from: moment("From"), to: moment("Until") };

interface FiltersProps {
  readonly label?: string;
  readonly fields: FilterFields;
  /** A filter of another kind, before these. */
  readonly children?: ReactNode;
}

/** The form of the filters. What is typed applies after a short while, or at once by Enter. */
export function Filters({ label = "Filters", fields, children }: FiltersProps) {
  const stay = (event: FormEvent) => event.preventDefault();
  return (
    <search aria-label={label}>
      <form className={styles.filters} onSubmit={stay} aria-label={label}>
        {children}
        {Object.entries(fields).map(([name, field]) => (
          <Filter key={name} name={name} {...(typeof field === "string" ? { label: field } : field)} />
        ))}
      </form>
    </search>
  );
}

function Filter({ name, label, type = "text", choices, any }: FilterField & { readonly name: string }) {
  const [search, change] = useFilters();
  const times = useTimeChoice();
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>
        {label}
        {type === "datetime-local" && <span className={styles.quiet}> {zoneName(times)}</span>}
      </label>
      {choices ? (
        <select id={id} value={search[name] ?? ""} onChange={({ target }) => change({ [name]: target.value })}>
          <option value="">{any}</option>
          {optionsOf(choices)}
        </select>
      ) : (
        <TypedFilter id={id} name={name} type={type} />
      )}
    </div>
  );
}

/** Time without another key after which a filter applies. */
const applyAfterMs = 300;

interface TypedFilterProps {
  readonly id: string;
  readonly name: string;
  readonly type: NonNullable<FilterField["type"]>;
}

function TypedFilter({ id, name, type }: TypedFilterProps) {
  const [search, change] = useFilters();
  const isTime = type === "datetime-local";
  const { zone } = useTimeChoice();
  const applied = isTime ? localTime(search[name], zone) : (search[name] ?? "");
  const [typed, setTyped] = useState(applied);
  const [before, setBefore] = useState(applied);
  const sent = useRef(applied);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Another address, as by Back, shows its own filter; what is typed while an own one applies stays.
  if (applied !== before) {
    setBefore(applied);
    if (applied !== sent.current) setTyped(applied);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (value: string) => {
    clearTimeout(timer.current);
    sent.current = value;
    if (value !== applied)
      change({ [name]: isTime && value ? new Date(zone === "utc" ? `${value}Z` : value).toISOString() : value });
  };
  const enter = (value: string) => {
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(value.trim()), applyAfterMs);
  };
  return (
    <input
      id={id}
      type={type}
      value={typed}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => enter(target.value)}
      onBlur={() => apply(typed.trim())}
      onKeyDown={({ key }) => key === "Enter" && apply(typed.trim())}
    />
  );
}

/** Writes a moment as a field for times has it; empty for none. */
function localTime(at: string | undefined, zone: TimeChoice["zone"]): string {
  const time = new Date(at ?? "");
  if (Number.isNaN(time.getTime())) return "";
  const offset = zone === "utc" ? 0 : time.getTimezoneOffset();
  return new Date(time.getTime() - offset * 60_000).toISOString().slice(0, 16);
}

/** The call that shows the same as the page, to paste into a terminal. */
export function Curl(call: Parameters<typeof curlText>[1]) {
  if (useIsPortal()) return null;
  return (
    <details>
      <summary>Show as curl</summary>
      <Code text={curlText(deploymentUrl.href, call)} label={`curl of ${call.method ?? "GET"} ${call.path}`} />
    </details>
  );
}
