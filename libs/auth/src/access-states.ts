import type { AccountState } from "@signalbox/contracts";

export interface AccessEntry {
  readonly state: AccountState;
  readonly epoch: number;
}

/** A change seen on the state topic: of an account (`acc_…`), or of a credential (the id of a key, client or token). */
export interface AccessChange {
  readonly kind: "account" | "credential";
  readonly id: string;
  readonly accountId: string;
}

/** The last known access of accounts and credentials, fed by the state topic. */
export interface AccessStates {
  /** The last entry of an account; null when its access never changed. */
  stateOf(accountId: string): AccessEntry | null;
  isRevoked(credentialId: string): boolean;
  /** Calls back for every applied change; returns the way to stop. For streams that must end at once. */
  onChange(listener: (change: AccessChange) => void): () => void;
  /** Settles when the topic was read to the end it had at start. Until then nobody is let in. */
  readonly caughtUp: Promise<void>;
  isCaughtUp(): boolean;
  /** Milliseconds since the log was last known to be read to its end. */
  ageMs(): number;
  close(): Promise<void>;
}
