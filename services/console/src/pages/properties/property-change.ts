import { askGraph, payloadOf } from "../../session/graph.ts";

/** A change of one override, with the revision of the override that was seen. */
export interface WantedChange {
  readonly change: {
    readonly name: string;
    readonly expectedRevision: string;
    readonly value?: unknown;
    readonly unset?: boolean;
  };
  readonly reason: string;
  readonly expiresAt: string | null;
}

/** The result of a change: the value, and how many instances run with it. */
export interface ChangeResult {
  readonly name: string;
  readonly value: unknown;
  readonly masked: boolean;
  readonly shadowedBy: string | null;
  readonly appliesAt: "LIVE" | "RESTART";
  readonly instances: number;
  readonly applied: number;
}

const setMutation = `mutation($input: SetPropertiesInput!) { setProperties(input: $input) {
  revision
  results { name value masked shadowedBy appliesAt instances applied }
  errors { field code message }
} }`;

interface Payload {
  readonly revision: string | null;
  readonly results: readonly ChangeResult[];
  readonly errors: readonly { readonly field: string | null; readonly code: string; readonly message: string }[];
}

/** Instances apply a change within this time when nothing is wrong. */
const waitForMs = 5_000;

/**
 * Changes an override, or only asks whether that is allowed.
 * @throws ApiError 409 when somebody else has changed it since it was seen
 */
export async function changeProperty({ change, reason, expiresAt }: WantedChange, isDryRun: boolean): Promise<Payload> {
  const input = { changes: [change], reason, expiresAt, dryRun: isDryRun, ...(!isDryRun && { waitForMs }) };
  return payloadOf((await askGraph<{ setProperties: Payload }>(setMutation, { input })).setProperties);
}
