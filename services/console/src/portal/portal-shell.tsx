import { Link, Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import { Time } from "../parts/inline.tsx";
import parts from "../parts/parts.module.css";
import { endPortal, renewOnce, sessionState } from "../session/session.ts";
import { useStore } from "../session/store.ts";
import { LeaveGuard } from "../shell/leave-guard.tsx";
import shell from "../shell/shell.module.css";
import styles from "./portal.module.css";
import { portalState } from "./portal-session.ts";

/** Around the pages of the portal: where one can go, when the link ends, and that it has ended. */
export function PortalShell() {
  const portal = useStore(portalState);
  const session = useStore(sessionState);
  const endsAt = portal.kind === "open" ? portal.session.expires_at : null;
  const hasEnded = session.kind === "signed-in" && session.asks !== null;
  useEffect(() => {
    if (endsAt === null) return;
    const timer = setTimeout(() => void renewOrEnd(), Math.max(0, Date.parse(endsAt) - Date.now()));
    return () => clearTimeout(timer);
  }, [endsAt]);
  return (
    <div className={styles.portal}>
      <a className={shell.skip} href="#main">
        Skip to content
      </a>
      <header className={`${parts.head} ${styles.top}`}>
        <nav aria-label="Pages of the portal">
          <ul className={styles.nav}>
            <li>
              <Link to="/webhooks/endpoints">Endpoints</Link>
            </li>
            <li>
              <Link to="/webhooks/deliveries">Deliveries</Link>
            </li>
            <li>
              <Link to="/webhooks/replays">Replays</Link>
            </li>
          </ul>
        </nav>
        {!hasEnded && (
          <p>
            This link expires <Time at={endsAt} />
          </p>
        )}
      </header>
      <main id="main" className={shell.main} tabIndex={-1}>
        <div>
          {hasEnded && (
            <p role="alert" className={shell.banner}>
              This link is no longer valid, so nothing is loaded or sent. What you see and typed stays here; to
              continue, open the page again from where you found the link.
            </p>
          )}
          <Outlet />
        </div>
      </main>
      <LeaveGuard />
    </div>
  );
}

async function renewOrEnd(): Promise<void> {
  if (!(await renewOnce())) endPortal();
}
