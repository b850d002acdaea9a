import { Button } from "../parts/button.tsx";
import { Status, type Tone } from "../parts/inline.tsx";
import parts from "../parts/parts.module.css";
import type { Live, LiveState } from "./read-every.ts";

const texts: Readonly<Record<LiveState, { readonly tone: Tone; readonly word: string; readonly title: string }>> = {
  connecting: { tone: "wait", word: "connecting", title: "Subscribing to changes." },
  live: { tone: "good", word: "live", title: "Changes appear as they happen." },
  behind: { tone: "wait", word: "catching up", title: "Earlier changes are arriving, in order." },
  reconnecting: {
    tone: "wait",
    word: "reconnecting",
    title: "The connection was lost. Missed changes arrive once it is back.",
  },
  paused: {
    tone: "off",
    word: "paused",
    title: "The page stays as it is. Missed changes arrive when you resume.",
  },
  off: {
    tone: "off",
    word: "every 10 seconds",
    title: "Subscriptions are not available here, so the page is refreshed.",
  },
};

/** The state of a live page, in a word and a shape, and the button that stops it. */
export function LiveStatus({ live: { state, toggle } }: { readonly live: Live }) {
  const { tone, word, title } = texts[state];
  return (
    <span className={parts.row}>
      <span role="status" title={title} aria-label={`Updates: ${word}`}>
        <Status tone={tone}>{word}</Status>
      </span>
      {state !== "off" && <Button label={state === "paused" ? "Resume" : "Pause updates"} onClick={toggle} />}
    </span>
  );
}
