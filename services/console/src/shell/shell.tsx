import { Link, Outlet } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { Navigation } from "./navigation.tsx";
import { PersonMenu } from "./person-menu.tsx";
import styles from "./shell.module.css";
import { SignInAgain } from "./sign-in-again.tsx";

/** Everything around a page: where one can go, who is signed in, and the dialog of a sign-in that has ended. */
export function Shell() {
  const isOnline = useSyncExternalStore(onConnectionChange, () => navigator.onLine);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.side}>
        <Link to="/" className={styles.brand as string}>
          Signalbox
        </Link>
        <Navigation />
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
