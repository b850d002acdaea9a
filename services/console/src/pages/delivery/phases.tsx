import { durationText } from "../../parts/time-text.ts";
import styles from "./delivery.module.css";

const names = {
  resolve: "find the address",
  connect: "connect",
  tls: "TLS",
  send: "send",
  first_byte: "wait for the answer",
  body: "read the answer",
} as const;

/** The time of an attempt by its phases, as one line of bars, each with its figure. */
export function Phases({ phases }: { readonly phases: Readonly<Record<keyof typeof names, number | null>> }) {
  const shown = Object.entries(names).flatMap(([phase, name]) => {
    const ms = phases[phase as keyof typeof names];
    return ms === null ? [] : [{ name, ms }];
  });
  const longest = Math.max(1, ...shown.map(({ ms }) => ms));
  return (
    <dl className={styles.phases} aria-label="Phases">
      {shown.map(({ name, ms }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <meter min={0} max={longest} value={ms} aria-label={`${name}: ${durationText(ms)}`} /> {durationText(ms)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
