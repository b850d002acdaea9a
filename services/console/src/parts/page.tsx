import { type ReactNode, useEffect, useRef } from "react";
import styles from "./parts.module.css";

interface PageProps {
  readonly title: string;
  /** Shown beside the title: what can be done here. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its title is the document's too, and gets the focus when the page comes, so that a screen reader says it. */
export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Signalbox`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className={styles.row}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page with a title of its own. */
export function Panel({ title, actions, children }: PageProps) {
  return (
    <section className={styles.panel} aria-label={title}>
      <div className={styles.head}>
        <h2>{title}</h2>
        {actions && <div className={styles.row}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

interface PairsProps {
  /** What there is nothing to say about is left out. */
  readonly items: ReadonlyArray<readonly [name: string, value: ReactNode] | false | "" | null | undefined>;
}

/** Names with their values. */
export function Pairs({ items }: PairsProps) {
  return (
    <dl className={styles.pairs}>
      {items
        .filter((item) => !!item)
        .map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** A column that this person does not get is false. */
  readonly columns: ReadonlyArray<Column<Row> | false>;
}

/** A table that becomes a list on a narrow screen. The roles stay, which `display: block` would take away. */
export function Table<Row>({ label, rows, keyOf, columns }: TableProps<Row>) {
  const shown = columns.filter((column) => column !== false);
  return (
    // biome-ignore lint/a11y/noRedundantRoles: A narrow screen shows the table as blocks, and browsers then drop its roles.
    <table aria-label={label} role="table">
      {/* biome-ignore lint/a11y/noRedundantRoles: As above. */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: As above. */}
        <tr role="row">
          {shown.map(({ name }) => (
            // biome-ignore lint/a11y/noRedundantRoles: As above.
            <th key={name} scope="col" role="columnheader">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/noRedundantRoles: As above. */}
      <tbody role="rowgroup">
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: As above.
          <tr key={keyOf(row)} role="row">
            {shown.map(({ name, cell }) => (
              // biome-ignore lint/a11y/noRedundantRoles: As above.
              <td key={name} data-label={name} role="cell">
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
