import { Link, Outlet } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { type Scope, useCredential, useMay } from "../session/api.ts";
import { PersonMenu } from "./person-menu.tsx";
import styles from "./shell.module.css";
import { SignInAgain } from "./sign-in-again.tsx";

interface Place {
  readonly to: string;
  readonly name: string;
  readonly scope: Scope;
}

/** The pages of the side bar, each with the scope without which it would show nothing. */
const places: readonly Place[] = [
  { to: "/", name: "Home", scope: "account:read" },
  { to: "/webhooks/endpoints", name: "Endpoints", scope: "webhooks:read" },
  { to: "/webhooks/deliveries", name: "Deliveries", scope: "webhooks:read" },
  { to: "/webhooks/replays", name: "Replays", scope: "webhooks:read" },
  { to: "/webhooks/event-types", name: "Event types", scope: "webhooks:read" },
  { to: "/webhooks/events", name: "Events", scope: "webhooks:read" },
  { to: "/webhooks/sources", name: "Sources", scope: "webhooks:read" },
  { to: "/webhooks/received", name: "Received", scope: "webhooks:read" },
  { to: "/webhooks/rejections", name: "Rejected", scope: "webhooks:read" },
  { to: "/images", name: "Images", scope: "images:read" },
  { to: "/account", name: "Account", scope: "account:read" },
  { to: "/operations", name: "Operations", scope: "operations:read" },
  { to: "/accounts", name: "Accounts", scope: "account:admin" },
  { to: "/properties", name: "Properties", scope: "config:read" },
  { to: "/flags", name: "Flags", scope: "config:admin" },
];

/** Everything around a page: where one can go, who is signed in, and the dialog of a sign-in that has ended. */
export function Shell() {
  const isOnline = useSyncExternalStore(onConnectionChange, () => navigator.onLine);
  const { data: credential } = useCredential();
  const shown = places.filter(({ scope, to }) => to === "/" || credential?.scopes.includes(scope));
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.side}>
        <Link to="/" className={styles.brand as string}>
          Signalbox
        </Link>
        <nav aria-label="Pages of the console">
          <ul className={styles.nav}>
            {shown.map(({ to, name }) => (
              <li key={to}>
                <Link to={to} activeOptions={{ exact: to === "/" }}>
                  {name}
                </Link>
              </li>
            ))}
            {useMay("account:read") && (
              <li>
                <Link to="/why" activeOptions={{ exact: false }}>
                  Why
                </Link>
              </li>
            )}
          </ul>
        </nav>
        <PersonMenu />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <div>
          {!isOnline && (
            <p role="status" className={styles.banner}>
              You are offline. What you see is from before; nothing you type is lost.
            </p>
          )}
          <Outlet />
        </div>
      </main>
      <SignInAgain />
    </div>
  );
}

function onConnectionChange(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}
