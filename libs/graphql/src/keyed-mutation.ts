import { deserialize, serialize } from "node:v8";
import type { HttpResponse, IdempotencyClaim, IdempotencyStore } from "@signalbox/http";
import {
  type DocumentNode,
  type FormattedExecutionResult,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
} from "graphql";
import type { OperationKey } from "./operation-key.ts";
import type { KeyedTransaction } from "./subgraph-context.ts";

interface KeyedMutation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationKey: OperationKey;
  readonly accountId: string;
  readonly idempotency: IdempotencyStore;
  /** Runs a document, whose effect is in a transaction under the key. */
  readonly run: (document: DocumentNode, transaction: KeyedTransaction) => Promise<FormattedExecutionResult>;
}

/** Tells the gateway that something of the result was kept from an earlier run. It goes no further. */
export const replayedExtension = "idempotentReplayed";

/**
 * Runs the root fields of a mutation in their order, each once under the operation's `Idempotency-Key`: one that was run before
 * gives the result it had. What a field shows is known after its transaction alone, so the transaction notes what it gave,
 * and the result is added to the note. Where that did not happen, because the process died, the next attempt makes the
 * result of the note.
 */
export async function runKeyedMutation(mutation: KeyedMutation): Promise<FormattedExecutionResult> {
  const { document, operation } = mutation;
  const results: FormattedExecutionResult[] = [];
  for (const [at, selection] of operation.selectionSet.selections.entries()) {
    const result = await runOnce(
      mutation,
      keyOf(mutation.operationKey, selection, at),
      only(document, operation, selection),
    );
    results.push(result);
    if (!result.data) return { ...joined(results), data: null };
  }
  return joined(results);
}

async function runOnce(
  mutation: KeyedMutation,
  key: string,
  document: DocumentNode,
): Promise<FormattedExecutionResult> {
  const { accountId, idempotency, operationKey, run } = mutation;
  const claim = idempotency.open({
    ...{ accountId, key, sealed: idempotency.seals },
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

/** The status of a record whose effect is there and whose answer is not yet. */
const runStatus = 202;

/** What a transaction gave, with its dates and bytes. */
const noteOf = (given: unknown) => ({ given: serialize(given).toString("base64") });

const committedIn = (kept: HttpResponse): { readonly given: unknown } => ({
  given: deserialize(Buffer.from(JSON.parse(textOf(kept)).given, "base64")),
});

async function keep(claim: IdempotencyClaim, result: FormattedExecutionResult, isRun: boolean): Promise<void> {
  const answer: HttpResponse = { status: 200, body: { kind: "json", value: result } };
  const refusal = refusalIn(result);
  // The row alone knows whether the effect is there: it is given back only where it says that nothing was run.
  if (refusal === "unknown") await claim.settle?.({ status: 503, body: { kind: "empty" } });
  else if (isRun) await claim.revise?.(refusal ? null : answer);
  else await claim.settle?.(refusal ? { status: 422, body: { kind: "empty" } } : answer);
}

/**
 * Tells whether the field refused: by an error of its own, not of something below it, or in its payload. Such a field has
 * changed nothing, and the same request may be sent again.
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

/** The first field has the key itself, so that the same key is no other request of REST either. No key holds a blank. */
function keyOf({ key, isFirst }: OperationKey, selection: SelectionNode, at: number): string {
  if (isFirst && at === 0) return key;
  return `${key} ${selection.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : at}`;
}

/** The document with one root field alone. */
function only(document: DocumentNode, operation: OperationDefinitionNode, selection: SelectionNode): DocumentNode {
  const alone = { ...operation, selectionSet: { ...operation.selectionSet, selections: [selection] } };
  return { ...document, definitions: document.definitions.map((one) => (one === operation ? alone : one)) };
}

function joined(results: readonly FormattedExecutionResult[]): FormattedExecutionResult {
  const errors = results.flatMap((result) => result.errors ?? []);
  return {
    data: Object.assign({}, ...results.map(({ data }) => data)),
    ...(errors.length > 0 && { errors }),
    extensions: Object.assign({}, ...results.map(({ extensions }) => extensions)),
  };
}
