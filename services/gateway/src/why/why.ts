import { WhyPart, WhyStep, whyId } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { createRoutes, ok, type Routes, refused } from "@signalbox/http";
import { aboutOf, cutSteps, unmarked, whyPathOf } from "@signalbox/service";
import { z } from "zod";
import { type Asking, type AskServices, askedServices } from "../operating/ask-services.ts";

/** An id leads to others: a rejection to what its retry accepted, a request to what it changed, that to its deliveries. */
const roundsMax = 4;
const idsMax = 12;
const stepsMax = 500;
/** Time after which a service that was away is asked again. */
const retryAfterSeconds = 5;

/**
 * Returns the chain behind an id, oldest first: every service says what it knows of it, under the rules of its own
 * resources. None for an id that does not exist or belongs to another account. What a service that is away knows is a
 * hole in the chain. @throws AppError `unavailable` when there would be holes alone: whether the id exists, and whose it
 * is, is open.
 */
export async function why(ask: AskServices, id: string, asking: Asking): Promise<WhyStep[]> {
  if (!whyId.test(id)) return [];
  const steps = new Map<string, WhyStep>();
  const away = new Map<string, WhyStep>();
  const asked = new Set<string>();
  let ids = [id];
  for (let round = 0; round < roundsMax && ids.length > 0; round++) {
    for (const one of ids) asked.add(questionOf(one));
    const rounds = await Promise.all(ids.map((one) => ask.getAll(askedServices, whyPathOf(one), WhyPart, asking)));
    for (const { answers, unavailable } of rounds) {
      for (const step of answers.flatMap((part) => part.steps)) steps.set(JSON.stringify(step), step);
      for (const { service, message } of unavailable) away.set(service, awayStep(service, message));
    }
    const next = rounds.flatMap(({ answers }) => answers.flatMap((part) => part.next));
    ids = newIds(next, asked).slice(0, idsMax - asked.size);
  }
  if (steps.size === 0 && away.size > 0) throw unavailable([...away.keys()]);
  return cutSteps("gateway", [...steps.values(), ...away.values()].toSorted(inTime), stepsMax);
}

/** Identifies a question: a link to a thing asks no more than its plain id. */
const questionOf = (id: string): string => (aboutOf(id) === null ? unmarked(id) : id);

/** Returns the ids that ask something new. */
function newIds(next: readonly string[], asked: ReadonlySet<string>): string[] {
  const fresh = new Map(next.map((id) => [questionOf(id), id] as const));
  return [...fresh].flatMap(([question, id]) => (asked.has(question) || !whyId.test(unmarked(id)) ? [] : [id]));
}

const unavailable = (services: readonly string[]) =>
  new AppError("unavailable", `Nothing is known about this id at the moment: ${services.join(", ")} did not respond.`, {
    retryAfterSeconds,
  });

const awayStep = (service: WhyStep["service"], reason: string): WhyStep => ({
  at: null,
  service,
  id: null,
  what: `Information from ${service} is missing here.`,
  verdict: "hole",
  reason,
  by: null,
  link: null,
});

/** Steps without a time are the present state, and come last. Ids decide between equal times: an event before its deliveries. */
function inTime(a: WhyStep, b: WhyStep): number {
  const [one, other] = [a, b].map(({ at, id }) => `${at ?? "~"} ${id ?? "~"}`) as [string, string];
  return Number(one > other) - Number(one < other);
}

/** The route of the chain behind an id. */
export function whyRoutes(ask: AskServices): Routes {
  const routes = createRoutes({ exampleIds: { id: "whd_01kdzq7c9p4r6s8t0v2w5x7y1z" } });
  routes.get("/api/v1/why/:id", {
    operationId: "why",
    summary: "Find out what happened, by any id",
    description:
      "One chain, oldest first, of what every service knows about the id: a delivery, an attempt, an event, a replay, a received webhook, a rejection, an image, a render job, an API key, a sign-in, an entry of the audit, a trace (32 hexadecimal digits), a change by its `X-Request-Id`, or a refused call by its own, for 24 hours. You see what your scopes let you read; an id of another account does not exist.",
    auth: { scopes: [] },
    responses: { 200: z.object({ items: z.array(WhyStep).describe("The chain, oldest first.") }), 404: "error" },
    cache: "no-store",
    async handle({ caller, signal, params }) {
      const items = await why(ask, params.id, { caller, signal });
      return items.length === 0
        ? refused(404, "not_found", { message: "Nothing is known about this id." })
        : ok({ items });
    },
  });
  return routes;
}
