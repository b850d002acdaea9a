import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { Button } from "../parts/button.tsx";
import { Box } from "../parts/dialog.tsx";
import parts from "../parts/parts.module.css";
import { useCredential } from "../session/api.ts";
import { answerAsk, dropAsk, sessionState } from "../session/session.ts";
import { useStore } from "../session/store.ts";
import { LeaveGuard } from "./leave-guard.tsx";
import { PersonMenu } from "./person-menu.tsx";
import { groupsFor, isWithin, type Place } from "./places.ts";
import styles from "./shell.module.css";

/** Everything around a page: where one can go, who is signed in, and the dialog of a sign-in that has ended. */
export function Shell() {
  const isOnline = useSyncExternalStore(onConnectionChange, () => navigator.onLine);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <header className={styles.side}>
        <Link to="/" className={styles.brand as string}>
          <Mark /> Signalbox
        </Link>
        <Navigation />
        <PersonMenu />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <div>
          {!isOnline && (
            <p role="status" className={styles.banner}>
              You are offline. You see the last data that was loaded; nothing you type is lost.
            </p>
          )}
          <Outlet />
        </div>
      </main>
      <SignInAgain />
      <LeaveGuard />
    </div>
  );
}

/** The mark of the product, as the icon of the page has it. */
const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="var(--accent)" />
    <g fill="none" stroke="var(--on-accent)" strokeWidth="3" strokeLinecap="round">
      <path d="M7 20a9 9 0 0 1 18 0M12 20a4 4 0 0 1 8 0M16 25v0.010" />
    </g>
  </svg>
);

function onConnectionChange(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}

const texts = {
  ended: {
    title: "Your sign-in has ended",
    text: "Sign in again in a separate window. This page stays as it is, and your last request is sent afterwards.",
  },
  recent: {
    title: "This needs a recent sign-in",
    text: "You signed in more than 15 minutes ago. Confirm that it is you in a separate window; the change then continues.",
  },
} as const;

/** The dialog over any page in which the person signs in again while the page and its requests wait. */
function SignInAgain() {
  const session = useStore(sessionState);
  const ask = session.kind === "signed-in" ? session.asks : null;
  const { title, text } = texts[ask?.reason ?? "ended"];
  return (
    <Box title={title} role="alertdialog" isOpen={ask !== null} onClose={dropAsk}>
      <p>{text}</p>
      {ask?.problem && (
        <p role="alert" className={parts.failed}>
          {ask.problem}
        </p>
      )}
      <div className={parts.row}>
        <Button label="Sign in" className="main" onClick={() => void answerAsk()} />
        <Button label="Cancel" onClick={dropAsk} />
      </div>
    </Box>
  );
}

/** Shows the places: groups with headings, of which that of the page is open. */
function Navigation() {
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
