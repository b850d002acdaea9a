import { deserialize, serialize } from "node:v8";
import type { Principal } from "@signalbox/auth";
import {
  type DocumentNode,
  type FormattedExecutionResult,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from "graphql";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import type { HttpResponse } from "../routes/http-response.ts";
import type { IdempotencyClaim } from "../routes/idempotency.ts";
import type { OperationKey } from "./principal-header.ts";
import type { KeyedTransaction } from "./subgraph-context.ts";

interface KeyedMutation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationKey: OperationKey;
  readonly principal: Principal;
  readonly idempotency: IdempotencyStore;
  /** True when the caller has access to the root field of this name: a stored answer is for nobody else. */
  readonly mayRun: (field: string) => boolean;
  /** Runs a document; given a transaction, its effect is stored there under the key. */
  readonly run: (document: DocumentNode, transaction?: KeyedTransaction) => Promise<FormattedExecutionResult>;
}

/** Marks a result that contains stored parts of an earlier run. The gateway removes it. */
export const replayedExtension = "idempotentReplayed";

/**
 * Runs the root fields of a mutation in order, each once under the operation's `Idempotency-Key`: a field that ran
 * before returns its stored result. The result of a field is known only after its transaction, so the transaction
 * stores its return value, and the result is added afterwards. If the process died in between, the next attempt builds
 * the result from the stored value.
 */
export async function runKeyedMutation(mutation: KeyedMutation): Promise<FormattedExecutionResult> {
  const { document, operation } = mutation;
  const results: FormattedExecutionResult[] = [];
  for (const [at, selection] of operation.selectionSet.selections.entries()) {
    const alone = only(document, operation, selection);
    const isRefused = selection.kind === Kind.FIELD && !mutation.mayRun(selection.name.value);
    const result = isRefused
      ? await mutation.run(alone)
      : await runOnce(mutation, keyOf(mutation.operationKey, selection, at), alone);
    results.push(result);
    if (!result.data) return { ...mergeResults(results), data: null };
  }
  return mergeResults(results);
}

async function runOnce(
  mutation: KeyedMutation,
  key: string,
  document: DocumentNode,
): Promise<FormattedExecutionResult> {
  const { principal, idempotency, operationKey, run } = mutation;
  const claim = idempotency.open({
    principal,
    key,
    // Whether a field shows a secret is not declared, so every answer is treated as one that does.
    sealed: idempotency.seals,
    fingerprintOf: () => operationKey.fingerprint,
    textOf: ({ body }) => (body.kind === "json" ? JSON.stringify(body.value) : ""),
  });
  const kept = await claim.begin(null);
  if (kept?.status === runStatus) return asReplay(await run(document, { committed: committedIn(kept) }));
  if (kept) return asReplay(JSON.parse(textOf(kept)));
  let isRun = false;
  const result = await run(document, {
    async complete(tx, given) {
      await claim.complete(tx, { status: runStatus, body: { kind: "json", value: noteOf(given) } });
      tx.afterCommit(() => {
        isRun = true;
      });
    },
  });
  await keep(claim, result, isRun);
  return result;
}

/** Status of a record whose effect is committed and whose answer is missing. */
const runStatus = 202;

/** Serializes the return value of a transaction, with its dates and bytes. */
const noteOf = (given: unknown) => ({ given: serialize(given).toString("base64") });

const committedIn = (kept: HttpResponse): { readonly given: unknown } => ({
  given: deserialize(Buffer.from(JSON.parse(textOf(kept)).given, "base64")),
});

async function keep(claim: IdempotencyClaim, result: FormattedExecutionResult, isRun: boolean): Promise<void> {
  const answer: HttpResponse = { status: 200, body: { kind: "json", value: result } };
  const refusal = refusalIn(result);
  // Only the row knows whether the effect is committed: the key is released only when nothing ran.
  if (refusal === "unknown") await claim.settle?.({ status: 503, body: { kind: "empty" } });
  else if (isRun) await claim.revise?.(refusal ? null : answer);
  else await claim.settle?.(refusal ? { status: 422, body: { kind: "empty" } } : answer);
}

/**
 * Finds out whether the field refused: by an error of its own, not of a nested field, or in its payload. Such a field
 * has changed nothing, and the same request may be sent again.
 */
function refusalIn({ data, errors = [] }: FormattedExecutionResult): "refused" | "unknown" | null {
  if (errors.some(({ extensions }) => extensions?.outcome === "unknown")) return "unknown";
  if (errors.some(({ path }) => path === undefined || path.length <= 1)) return "refused";
  const payloads = Object.values(data ?? {}) as ({ readonly errors?: readonly unknown[] } | null)[];
  return payloads.some((payload) => (payload?.errors?.length ?? 0) > 0) ? "refused" : null;
}

const textOf = ({ body }: HttpResponse): string => (body.kind === "bytes" ? Buffer.from(body.bytes).toString() : "");

const asReplay = (result: FormattedExecutionResult): FormattedExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, [replayedExtension]: true },
});

/**
 * Derives the key of a root field. The first one has the client's key itself, so that it cannot be used for another
 * REST request. No key contains a blank.
 */
function keyOf({ key, isFirst }: OperationKey, selection: SelectionNode, at: number): string {
  if (isFirst && at === 0) return key;
  return `${key} ${selection.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : at}`;
}

/** Reduces the document to one root field. */
function only(document: DocumentNode, operation: OperationDefinitionNode, selection: SelectionNode): DocumentNode {
  const alone = { ...operation, selectionSet: { ...operation.selectionSet, selections: [selection] } };
  return { ...document, definitions: document.definitions.map((one) => (one === operation ? alone : one)) };
}

function mergeResults(results: readonly FormattedExecutionResult[]): FormattedExecutionResult {
  const errors = results.flatMap((result) => result.errors ?? []);
  return {
    data: Object.assign({}, ...results.map(({ data }) => data)),
    ...(errors.length > 0 && { errors }),
    extensions: Object.assign({}, ...results.map(({ extensions }) => extensions)),
  };
}
