import { Link, useLocation } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import { useCredential } from "../session/api.ts";
import { groupsFor, isWithin, type Place } from "./places.ts";
import styles from "./shell.module.css";

/** Shows the places: groups with headings, of which that of the page is open. */
export function Navigation() {
  const { data: credential } = useCredential();
  const pathname = useLocation({ select: (location) => location.pathname });
  return (
    <nav aria-label="Pages of the console" className={styles.nav}>
      {groupsFor(credential?.scopes ?? []).map(({ name, places }) =>
        name === null ? (
          <Places key={places[0]?.to} places={places} />
        ) : (
          <Group key={name} name={name} places={places} isCurrent={places.some((place) => isWithin(pathname, place))} />
        ),
      )}
    </nav>
  );
}

interface GroupProps {
  readonly name: string;
  readonly places: readonly Place[];
  readonly isCurrent: boolean;
}

/** A group that opens when the person comes to one of its pages. The browser closes the one before: they share a name. */
function Group({ name, places, isCurrent }: GroupProps) {
  const details = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (isCurrent && details.current) details.current.open = true;
  }, [isCurrent]);
  return (
    <details ref={details} name="places" className={isCurrent ? styles.current : undefined}>
      <summary>
        <h2>{name}</h2>
      </summary>
      <Places places={places} label={name} />
    </details>
  );
}

const Places = ({ places, label }: { readonly places: readonly Place[]; readonly label?: string }) => (
  <ul aria-label={label}>
    {places.map(({ to, name }) => (
      <li key={to}>
        <Link to={to} activeOptions={{ exact: to === "/" }}>
          {name}
        </Link>
      </li>
    ))}
  </ul>
);
