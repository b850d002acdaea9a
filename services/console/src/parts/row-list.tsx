import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Fields, type FieldsData } from "./form.tsx";
import styles from "./parts.module.css";

/** Fields that belong together. */
export const Group = ({ legend, children }: { readonly legend: string; readonly children: ReactNode }) => (
  <fieldset className={styles.group}>
    <legend>{legend}</legend>
    {children}
  </fieldset>
);

interface RowListProps<Row> {
  readonly legend: string;
  /** One row, as in "Add a header". */
  readonly noun: string;
  readonly rows: readonly Row[];
  readonly set: (rows: readonly Row[]) => void;
  readonly blank: Row;
  readonly fields: (number: number, row: Row) => FieldsData<Row>;
  /** Fields that few rows need, under a heading of their own. */
  readonly more?: { readonly summary: string; readonly fields: (number: number) => FieldsData<Row> };
  readonly max?: number;
  /** True where the first row that fits decides. */
  readonly isOrdered?: boolean;
  /** Shown above the rows, and below them. */
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** Rows of fields, each of which can be added and removed. */
export function RowList<Row extends object>(props: RowListProps<Row>) {
  const { legend, noun, rows, set, blank, fields, more, max = Number.POSITIVE_INFINITY, isOrdered = false } = props;
  const change = (at: number) => (changed: Partial<Row>) => set(rows.with(at, { ...rows[at], ...changed } as Row));
  const raise = (at: number) => set([...rows.slice(0, at - 1), rows[at], rows[at - 1], ...rows.slice(at + 1)] as Row[]);
  return (
    <Group legend={legend}>
      {props.lead}
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: Rows have no other identity while they are typed.
        <div key={at} className={styles.page}>
          <div className={styles.filters}>
            <Fields input={row} set={change(at)} fields={fields(at + 1, row)} />
            <div className={styles.row}>
              {isOrdered && at > 0 && (
                <Button label="Move up" aria-label={`Move up ${noun} ${at + 1}`} onClick={() => raise(at)} />
              )}
              <Button
                label="Remove"
                aria-label={`Remove ${noun} ${at + 1}`}
                onClick={() => set(rows.toSpliced(at, 1))}
              />
            </div>
          </div>
          {more && (
            <details>
              <summary>{more.summary}</summary>
              <div className={styles.fields}>
                <Fields input={row} set={change(at)} fields={more.fields(at + 1)} />
              </div>
            </details>
          )}
        </div>
      ))}
      {rows.length < max && (
        <div>
          <Button label={`Add ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`} onClick={() => set([...rows, blank])} />
        </div>
      )}
      {props.children}
    </Group>
  );
}
