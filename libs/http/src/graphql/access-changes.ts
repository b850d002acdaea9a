import { AccessRecord, type AccessStates } from "@signalbox/auth";
import type { FormattedExecutionResult } from "graphql";
import { z } from "zod";

/** The extension of a subgraph's answer with changed access rights for the gateway. The gateway removes it. */
const extension = "accessChanges";
const AccessRecords = z.array(AccessRecord);

/**
 * Runs a mutation and adds every access change that this process learned of meanwhile to its result. The gateway
 * answers the client, so it must know of a revocation first. Concurrent changes of others are included and do no harm.
 */
export async function withAccessChanges(
  accessStates: AccessStates,
  run: () => Promise<FormattedExecutionResult>,
): Promise<FormattedExecutionResult> {
  const changes: AccessRecord[] = [];
  const stop = accessStates.onChange((change) => void changes.push(change));
  try {
    const result = await run();
    return changes.length === 0 ? result : { ...result, extensions: { ...result.extensions, [extension]: changes } };
  } finally {
    stop();
  }
}

/** Takes the access changes out of a subgraph's result and applies them. */
export function takeAccessChanges<Result extends Pick<FormattedExecutionResult, "extensions">>(
  result: Result,
  accessStates: Pick<AccessStates, "apply">,
): Result {
  if (result.extensions?.[extension] === undefined) return result;
  const { [extension]: changes, ...extensions } = result.extensions;
  // Unreadable changes of another version come on the state topic too.
  for (const change of AccessRecords.safeParse(changes).data ?? []) accessStates.apply(change);
  return { ...result, extensions };
}
