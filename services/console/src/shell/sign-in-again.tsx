import { useSyncExternalStore } from "react";
import { Box } from "../parts/dialog.tsx";
import parts from "../parts/parts.module.css";
import { answerAsk, dropAsk, onSessionChange, readSession } from "../session/session.ts";

const texts = {
  ended: {
    title: "Your sign-in has ended",
    text: "Sign in again in a window of its own. This page stays as it is, and what you have just sent goes out after that.",
  },
  recent: {
    title: "This needs a recent sign-in",
    text: "You signed in more than 15 minutes ago. Confirm that it is you, in a window of its own; then the change goes on.",
  },
} as const;

/** The dialog over any page in which the person signs in again while the page and its requests wait. */
export function SignInAgain() {
  const session = useSyncExternalStore(onSessionChange, readSession);
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
        <button type="button" className="main" onClick={() => void answerAsk()}>
          Sign in
        </button>
        <button type="button" onClick={dropAsk}>
          Cancel
        </button>
      </div>
    </Box>
  );
}
