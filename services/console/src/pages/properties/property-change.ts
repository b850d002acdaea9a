import { askGraph, type Detail, payloadOf } from "../../session/graph.ts";

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

/** A change that was made or proposed; neither after a trial. */
export interface Made {
  readonly revision: string | null;
  readonly results: readonly ChangeResult[];
  /** The id of the proposal, which another operator decides. */
  readonly proposal: string | null;
}

type Payload = Omit<Made, "proposal"> & { readonly errors: readonly Detail[] };

/** Instances apply a change within this time when nothing is wrong. */
export const waitForMs = 5_000;

/**
 * Changes an override, or only asks whether that is allowed.
 * @throws ApiError 409 when somebody else has changed it since it was seen
 */
export async function changeProperty({ change, reason, expiresAt }: WantedChange, isDryRun: boolean): Promise<Made> {
  const input = { changes: [change], reason, expiresAt, dryRun: isDryRun, ...(!isDryRun && { waitForMs }) };
  const { setProperties } = await askGraph<{ setProperties: Payload }>(setMutation, { input });
  const { revision, results } = payloadOf(setProperties);
  return { revision, results, proposal: null };
}

const proposeMutation = `mutation($input: ProposeChangeInput!) { proposeChange(input: $input) {
  proposal { id } errors { field code message }
} }`;

interface Proposed {
  readonly proposal: { readonly id: string } | null;
  readonly errors: readonly Detail[];
}

/**
 * Proposes the change of an override to another operator, or only asks whether that is allowed.
 * @throws ApiError 409 when somebody else has changed it since it was seen
 */
export async function proposeChange({ change, reason, expiresAt }: WantedChange, isDryRun: boolean): Promise<Made> {
  const input = { changes: [change], reason, expiresAt, dryRun: isDryRun };
  const { proposeChange: answer } = await askGraph<{ proposeChange: Proposed }>(proposeMutation, { input });
  return { revision: null, results: [], proposal: payloadOf(answer).proposal?.id ?? null };
}
