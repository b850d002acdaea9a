import { ApiError } from "@signalbox/client";
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { deploymentUrl } from "../session/place.ts";
import { Button } from "./button.tsx";
import { Prose } from "./inline.tsx";
import styles from "./parts.module.css";
import { onTick } from "./time-choice.ts";

export interface AnswerProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** The thing that loads, as in "Loading endpoints …". */
  readonly what: string;
  /** Default: null, a list without items, or a page of one. */
  readonly isEmpty?: (data: Data) => boolean;
  /** Shown where there is none: a sentence, or more. Without it an empty answer is shown like any other. */
  readonly empty?: ReactNode;
  /** Shown above what is there, and above the sentence where there is none. */
  readonly above?: (data: Data) => ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/** Shows an answer, or its state: loading, empty, refused, gone, or no answer at all. Data that is there stays on a failure. */
export function Answer<Data>({ query, what, isEmpty = hasNone, empty, above, children }: AnswerProps<Data>) {
  const { data, error } = query;
  const failure = error && <Failure error={error} what={what} retry={() => void query.refetch()} />;
  if (data === undefined) return failure ?? <p role="status">Loading {what} …</p>;
  const nothing = typeof empty === "string" ? <p>{empty}</p> : empty;
  return (
    <>
      {failure}
      {above?.(data)}
      {nothing && isEmpty(data) ? <div className={styles.notice}>{nothing}</div> : children(data)}
    </>
  );
}

function hasNone(data: unknown): boolean {
  if (data === null) return true;
  const items = Array.isArray(data) ? data : (data as { readonly items?: readonly unknown[] }).items;
  return items?.length === 0;
}

interface FailureProps {
  readonly error: Error;
  readonly what: string;
  readonly retry?: () => void;
}

/** Says what happened, why, and what to do. */
export function Failure({ error, what, retry }: FailureProps) {
  const { title, advice } = describe(error, what);
  return (
    <div role="alert" className={`${styles.notice} ${styles.bad}`}>
      <strong>{title}</strong>
      {error instanceof ApiError ? <Refusal error={error} /> : null}
      {error instanceof ApiError && error.retryAfterMs ? (
        <Wait key={error.requestId} ms={error.retryAfterMs} retry={retry} />
      ) : (
        <p>{advice}</p>
      )}
      {retry && <Button label="Try again" onClick={retry} />}
    </div>
  );
}

/** Counts down to the time that the API named, and then tries again where that is harmless. */
function Wait({ ms, retry }: { readonly ms: number; readonly retry: (() => void) | undefined }) {
  const [untilMs] = useState(() => Date.now() + ms);
  const seconds = useSyncExternalStore(onTick, () => Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000)));
  const again = useRef(retry);
  again.current = retry;
  useEffect(() => {
    if (seconds === 0) again.current?.();
  }, [seconds]);
  return <p>{retry ? `Retrying in ${seconds} s.` : `Wait ${seconds} s, then try again.`}</p>;
}

const Refusal = ({ error }: { readonly error: ApiError }) => (
  <>
    <p>
      <Prose text={error.message} />
    </p>
    {error.details.length > 0 && (
      <ul>
        {error.details.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            <code>{field}</code>: <Prose text={message} />
          </li>
        ))}
      </ul>
    )}
    <p className={styles.quiet}>
      <a href={new URL(`docs/errors#${error.code}`, deploymentUrl).href}>{error.code}</a>
      {error.requestId && (
        <>
          , request <code>{error.requestId}</code>
        </>
      )}
    </p>
  </>
);

function describe(error: Error, what: string): { readonly title: string; readonly advice: string } {
  if (!(error instanceof ApiError)) {
    // What cannot be sent is found here; `fetch` throws a TypeError, and a deadline a DOMException.
    if (error.constructor === Error) return { title: error.message, advice: "Correct it and send it again." };
    return navigator.onLine
      ? {
          title: `No answer for ${what}`,
          advice: "The deployment did not answer. It may be restarting; try again in a moment.",
        }
      : { title: "You are offline", advice: "Nothing you typed is lost. Try again when the connection is back." };
  }
  switch (error.status) {
    case 401:
      return { title: "Your sign-in has ended", advice: "Sign in again; this page stays as it is." };
    case 403:
      return { title: `Permission denied`, advice: "Ask an administrator of your account for it." };
    case 404:
      return {
        title: `Not found: ${what}`,
        advice: "It was deleted, its retention has ended, or it belongs to another account.",
      };
    case 409:
    case 412:
      return { title: "It has changed in the meantime", advice: "Review its current state, then decide again." };
    case 429:
      return { title: "Too many requests", advice: "Wait a moment, then try again." };
    default:
      return error.status >= 500
        ? { title: `Unavailable right now: ${what}`, advice: "The failure is on our side. Try again in a moment." }
        : { title: "The request was refused", advice: "Correct the problem above and send it again." };
  }
}
