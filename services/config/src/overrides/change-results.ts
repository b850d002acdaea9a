import { type ErrorDetail, masked, type Refusal } from "@signalbox/core";
import { refusalError } from "@signalbox/http";
import type { PropertyScalar } from "@signalbox/runtime";
import type { ConfigService } from "../context/config-service.ts";
import { elsewhereOf } from "../state/property-catalogue.ts";
import type { PlannedChange } from "./plan-changes.ts";

const refuse = (code: Refusal["code"], message: string, field?: string): Refusal => ({ code, message, field });

/** The refusal of each outcome that is no change. */
const refusals = {
  "properties-changed": ({ details }: { readonly details: readonly ErrorDetail[] }) => ({
    ...refuse("conflict", details[0]?.message ?? ""),
    details,
  }),
  "newer-revision": ({ newest }: { newest: bigint }) =>
    refuse("conflict", `The newest revision is ${newest}.`, "expectedRevision"),
  "no-such-revision": ({ revision }: { revision: bigint }) => refuse("not_found", `There is no revision ${revision}.`),
  "too-many-proposals": ({ max }: { max: number }) =>
    refuse("conflict", `There are already ${max} open proposals. Decide some first.`),
  decided: ({ state }: { state: string }) => refuse("conflict", `The proposal was already ${state}.`),
  "own-proposal": () => refuse("forbidden", "The author of a proposal cannot approve it; another operator must."),
  "too-many-flags": ({ max }: { max: number }) =>
    refuse("conflict", `There are already ${max} flags. Archive some first.`),
  "no-such-flag": ({ key }: { key: string }) => refuse("not_found", `There is no flag ${key}.`),
  "flag-changed": ({ key, revision }: { key: string; revision: bigint }) =>
    refuse("conflict", `The flag ${key} is at revision ${revision}.`, "expectedRevision"),
};

type Refused = keyof typeof refusals;

/** Returns a success. @throws AppError for an outcome that is refused, so that its transaction writes nothing */
export async function succeeded<Result>(
  work: Promise<Result>,
): Promise<Exclude<Result, { readonly outcome: Refused }>> {
  const result = await work;
  const { outcome } = (result ?? {}) as { readonly outcome?: Refused };
  if (outcome !== undefined) throw refusalError(refusals[outcome](result as never));
  return result as Exclude<Result, { readonly outcome: Refused }>;
}

/** Sources with precedence over an override. */
const above: ReadonlySet<string> = new Set(["command line", "environment"]);

/**
 * Builds the results of changes: the effective values, overriding sources, and the instances that have applied them.
 * Answers once an instance is known and all have the revision, or the wait is over. A dry run does not wait.
 */
export async function resultsOf(
  service: ConfigService,
  made: readonly PlannedChange[],
  revision: bigint | null,
  waitMs: number,
) {
  const { reports, catalogue } = service;
  const services = made.flatMap(({ name }) => catalogue.target(name).services);
  if (revision !== null) await reports.until(() => haveAll(aliveOf(service, services), revision), waitMs);
  return made.map((each) => resultOf(service, each, revision));
}

/** Counts the instances once one at least is known and each evaluates with the revision, or the wait is over. */
export async function flagResultOf({ reports }: ConfigService, revision: bigint | null, waitMs: number) {
  const alive = () => reports.alive().map(({ report }) => report);
  if (revision !== null) await reports.until(() => haveAll(alive(), revision), waitMs);
  return { instances: alive().length, applied: alive().filter(has(revision)).length };
}

/** Builds the result of one change; for unmade changes the revision is null. */
function resultOf(service: ConfigService, { name, set, value }: PlannedChange, revision: bigint | null) {
  const { catalogue, configuration } = service;
  const { property, services, declaration } = catalogue.target(name);
  const alive = aliveOf(service, services);
  const runs = alive.filter((report) => has(revision)(report) && !report.pending_restart.includes(property));
  const shadow = alive.map(({ values }) => values?.[property]).find((running) => running && above.has(running.source));
  const elsewhere = elsewhereOf(configuration);
  const below = () => elsewhere(name)?.value ?? elsewhere(property)?.value ?? declaration.default;
  const effective = shadow ? shadow.value : set ? value : below();
  const isMasked = effective === masked || catalogue.isMasked(name, effective as PropertyScalar);
  return {
    name,
    value: isMasked ? null : effective,
    masked: isMasked,
    shadowedBy: shadow?.source ?? null,
    appliesAt: declaration.reload === "live" ? "LIVE" : "RESTART",
    instances: alive.length,
    applied: runs.length,
  };
}

const aliveOf = ({ reports }: ConfigService, services: readonly string[]) =>
  reports.alive().flatMap(({ report }) => (services.includes(report.service) ? [report] : []));

const has = (revision: bigint | null) => (report: { readonly revision: number }) =>
  revision !== null && BigInt(report.revision) >= revision;

/** Right after a start no instance has reported yet: that is no reason to answer that all have the revision. */
const haveAll = (alive: readonly { readonly revision: number }[], revision: bigint) =>
  alive.length > 0 && alive.every(has(revision));
