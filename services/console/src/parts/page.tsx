import { useLocation } from "@tanstack/react-router";
import { type ComponentType, type ReactNode, useEffect, useRef } from "react";
import { Answer, type AnswerProps } from "./answer.tsx";
import { Curl } from "./lists.tsx";
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
  const pathname = useLocation({ select: (location) => location.pathname });
  useEffect(() => {
    document.title = `${title} · Signalbox`;
  }, [title]);
  // Not for another title: a thing that somebody else renames would take the focus out of a form.
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another address is another page, also of the same kind.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [pathname]);
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

interface OnePageProps<Data> extends Omit<AnswerProps<Data>, "above"> {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Address that reads the same, below that of the deployment. */
  readonly path?: string;
  /** The parts that the address has besides. */
  readonly expand?: string;
  /** The page around it. */
  readonly frame?: ComponentType<PageProps>;
  /** Shown above the answer. */
  readonly lead?: ReactNode;
}

/** The page of one thing: its state while there is no answer, what is known of it, and the call that reads the same. */
export function OnePage<Data>(props: OnePageProps<Data>) {
  const { title, actions, path, expand, frame: Frame = Page, lead, ...answer } = props;
  return (
    <Frame title={title} actions={actions}>
      {lead}
      <Answer {...answer} />
      {path && <Curl path={path} query={{ expand }} />}
    </Frame>
  );
}

/** A part of a page with a title of its own. */
export const Panel = ({ title, actions, children }: PageProps) => (
  <section className={styles.panel} aria-label={title}>
    <div className={styles.head}>
      <h2>{title}</h2>
      {actions && <div className={styles.row}>{actions}</div>}
    </div>
    {children}
  </section>
);

interface PairsProps {
  /** What there is nothing to say about is left out. */
  readonly items: ReadonlyArray<readonly [name: string, value: ReactNode] | false | "" | null | undefined>;
}

/** Names with their values. */
export const Pairs = ({ items }: PairsProps) => (
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

/** Columns by their names, each with the cell of a row. One that this person does not get is false. */
export type Columns<Row> = Readonly<Record<string, ((row: Row) => ReactNode) | false>>;

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: Columns<Row>;
}

/** The roles of a table: a narrow screen shows it as blocks, and browsers then drop them. */
const part = (role: string) => ({ role });

/** A table that becomes a list on a narrow screen. */
export function Table<Row>({ label, rows, keyOf, columns }: TableProps<Row>) {
  const shown = Object.entries(columns).flatMap(([name, cell]) => (cell ? [{ name, cell }] : []));
  return (
    <table aria-label={label} {...part("table")}>
      <thead {...part("rowgroup")}>
        <tr {...part("row")}>
          {shown.map(({ name }) => (
            <th key={name} scope="col" {...part("columnheader")}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...part("rowgroup")}>
        {rows.map((row) => (
          <tr key={keyOf(row)} {...part("row")}>
            {shown.map(({ name, cell }) => (
              <td key={name} data-label={name} {...part("cell")}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
