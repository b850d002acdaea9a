/**
 * The state of a live page. `behind`: messages of before come, after a pause or a cut; `off`: this deployment or this
 * credential has no subscriptions, so the page reads every few seconds.
 */
export type LiveState = "connecting" | "live" | "behind" | "reconnecting" | "paused" | "off";

/** The subscription of a live page: its state, and the way to stop it for a while. */
export interface Live {
  readonly state: LiveState;
  readonly toggle: () => void;
}

/** Reads a list every few seconds, also for what no message says; a paused page stays as it is. */
export const readEvery = ({ state }: Live, isOn = true): number | false =>
  state === "paused" || !isOn ? false : 10_000;

/** Reads a list that messages are all about: only where no message comes, or one was lost with its sender. */
export const readUntold = (live: Live, isOn = true): number | false =>
  live.state === "off" ? readEvery(live, isOn) : live.state === "paused" || !isOn ? false : 60_000;
