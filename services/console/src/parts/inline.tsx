import { Link } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { useIsPortal } from "../session/api.ts";
import { copyText } from "./copy-text.ts";
import styles from "./parts.module.css";
import { onTick, useTimeChoice } from "./time-choice.ts";
import { durationText, exactTime, relativeTime } from "./time-text.ts";

/** An id that a click copies, with the way to what happened to it. */
export function Id({ value, why = true }: { readonly value: string; readonly why?: boolean }) {
  const isPortal = useIsPortal();
  return (
    <span className={styles.row}>
      {copied(value)}
      {why && !isPortal && (
        <Link to="/why/$id" params={{ id: value }} aria-label={`Why ${value}`}>
          why
        </Link>
      )}
    </span>
  );
}

/** A text that a click copies, such as an id of which nothing more is known. */
export const copied = (text: string) => (
  <Copy key="" text={text} label={`Copy ${text}`} className={styles.id}>
    {text}
  </Copy>
);

/** A process by its service and its id. */
export const instanceName = ({ service, instance }: { readonly service: string; readonly instance: string }) => (
  <>
    {service}
    <div>{copied(instance)}</div>
  </>
);

interface CopyProps {
  readonly text: string;
  readonly label?: string;
  readonly className?: string | undefined;
  readonly children: string;
}

/** A button that copies a text and says so. */
export function Copy({ text, label, className, children }: CopyProps) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    const isCopied = await copyText(text);
    setSaid(isCopied ? " ✓ copied" : " blocked here; select and copy it");
    setTimeout(() => setSaid(""), 2000);
  };
  return (
    <button type="button" className={className} aria-label={label} onClick={() => void copy()}>
      {children}
      <span role="status">{said}</span>
    </button>
  );
}

/** A time by its distance from now, which goes on; the focus or the pointer shows it exactly. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  const choice = useTimeChoice();
  const distance = useSyncExternalStore(onTick, () => (at ? relativeTime(at) : "never"));
  if (!at) return <span className={styles.quiet}>{distance}</span>;
  const exact = exactTime(at, choice);
  return (
    <time
      className={styles.time}
      dateTime={at}
      data-exact={exact}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: The exact time shows on focus, for people without a pointer.
      tabIndex={0}
    >
      {distance}
      <span className={styles.hidden}>, {exact}</span>
    </time>
  );
}

interface MomentProps {
  readonly at: string;
  /** The moment before, to which the gap is told. */
  readonly after?: string | null | undefined;
}

/** A time of a trace: to the millisecond, with the gap to the one before. */
export function Moment({ at, after }: MomentProps) {
  const gapMs = after ? Date.parse(at) - Date.parse(after) : null;
  return (
    <>
      <time dateTime={at}>{exactTime(at, useTimeChoice(), true)}</time>
      {gapMs !== null && <span className={styles.quiet}> +{durationText(gapMs)}</span>}
    </>
  );
}

export type Tone = "good" | "failed" | "wait" | "off";

/** The words of states by their tones. */
const states = {
  good: ["active", "ready", "done", "completed", "succeeded", "enabled", "accepted", "approved", "challenged"],
  failed: ["suspended", "failed", "exhausted", "rejected", "refused"],
  wait: [
    ...(["pending", "processing", "running", "waiting", "held", "parked", "paused"] as const),
    ...(["open", "preview", "deprecated"] as const),
  ],
  off: [
    ...(["disabled", "deleted", "expired", "revoked", "cancelled", "stopped"] as const),
    ...(["withdrawn", "hole", "dropped", "filtered"] as const),
  ],
} as const;

type State = (typeof states)[Tone][number];

const toneOf = (word: string): Tone =>
  (Object.keys(states) as Tone[]).find((tone) => (states[tone] as readonly string[]).includes(word)) ?? "off";

const shapes: Readonly<Record<Tone, string>> = {
  good: "M6 0a6 6 0 1 1 0 12A6 6 0 0 1 6 0ZM5 9l4.5-5L8.6 3.200 4.900 7.300 3.300 5.700 2.400 6.600Z",
  failed: "M6 0l6 11H0Z",
  wait: "M1 1h3.500v10H1zM7.500 1H11v10H7.500z",
  off: "M1 1h10v10H1z",
};

/** The word of a state, or any words with their tone. */
type StatusProps =
  | { readonly tone?: never; readonly children: State }
  | { readonly tone: Tone; readonly children: string };

/** A status: its word, with a shape that differs as its colour does. */
export const Status = ({ children, tone = toneOf(children) }: StatusProps) => (
  <span className={`${styles.status} ${tone === "off" ? styles.quiet : styles[tone]}`}>
    <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="currentColor" fillRule="evenodd">
      <path d={shapes[tone]} />
    </svg>
    {children}
  </span>
);

/** A sentence of the API, in which backticks mark code. */
export function Prose({ text }: { readonly text: string }) {
  const pieces = text.split("`").map((piece, at) => ({ piece, at }));
  return <>{pieces.map(({ piece, at }) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}</>;
}
