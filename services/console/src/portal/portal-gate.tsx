import { type ReactNode, useEffect } from "react";
import { useStore } from "../session/store.ts";
import shell from "../shell/shell.module.css";
import { type Closed, portalState } from "./portal-session.ts";

/** Shows its children to the holder of a link that is open, and to others what happened and what to do. */
export function PortalGate({ children }: { readonly children: ReactNode }) {
  const portal = useStore(portalState);
  if (portal.kind === "open") return children;
  return (
    <main className={shell.gate}>
      <div>{portal.kind === "opening" ? <p role="status">Opening …</p> : <ClosedLink why={portal.why} />}</div>
    </main>
  );
}

const texts: Readonly<Record<Closed, { readonly title: string; readonly text: string; readonly advice: string }>> = {
  missing: {
    title: "Open this page from its link",
    text: "The address contains no session. The page keeps the link in memory only, so that nobody who uses this browser after you finds it; reloading the page loses it.",
    advice: "Go back to where you found the link and open it again. Everything you saved is still there.",
  },
  ended: {
    title: "This link is no longer valid",
    text: "A link is valid for an hour at most, and the account that created it can end it earlier.",
    advice: "Go back to where you found the link and open the page from there to get a new one.",
  },
  away: {
    title: "No response",
    text: "The link may still be valid, but the deployment did not answer. It may be restarting.",
    advice: "Wait a moment, then open the link again.",
  },
};

function ClosedLink({ why }: { readonly why: Closed }) {
  const { title, text, advice } = texts[why];
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div role="alert">
      <h1>{title}</h1>
      <p>{text}</p>
      <p>{advice}</p>
    </div>
  );
}
