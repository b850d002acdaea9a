import type { Caller } from "@signalbox/auth";
import { type Scope, WhyPart, type WhyStep } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { createRoutes, forwardedCaller, ok, type Routes } from "@signalbox/http";

/** The path by which the gateway asks a service for its part of a chain. */
export const whyPathOf = (id: string): string => `/internal/why/${encodeURIComponent(id)}`;

/** Marks of links between the parts of a chain. No id that a caller asks for can begin with one. */
const marks = { toThing: "!", toEvents: ">" } as const;

/**
 * Leads to the story of a thing itself, and not on from there. It exists for the part that says so: its service names
 * the hole where it is gone.
 */
export const linkTo = (id: string): string => marks.toThing + id;

/** Leads to the events about a thing that exists. */
export const eventsAbout = (id: string): string => marks.toEvents + id;

/** Returns the id of the thing whose events a link leads to; null for any other id. */
export const aboutOf = (id: string): string | null => (id.startsWith(marks.toEvents) ? id.slice(1) : null);

/** Returns the id without the mark of a link. */
export const unmarked = (id: string): string => (Object.values<string>(marks).includes(id[0] ?? "") ? id.slice(1) : id);

/** One kind of thing of a service that a chain can lead to. */
export interface WhyFinder {
  /** The scopes that the resource itself needs. */
  readonly scopes: readonly Scope[];
  /** Recognizes the ids of the kind, without a look into the database. */
  readonly knows: (id: string) => boolean;
  /** Finds the caller's own; null for a missing one, and for that of another account. */
  readonly find: (caller: Caller, id: string) => Promise<WhyPart | null>;
  /** Names the hole in the place of a thing that another part leads to. */
  readonly missing?: (id: string) => WhyStep;
}

/** Recognizes ids with one of the prefixes, as `whd_…`. */
export const hasPrefix =
  (...prefixes: readonly string[]) =>
  (id: string): boolean =>
    prefixes.some((prefix) => id.startsWith(`${prefix}_`));

/** Builds a step of one service, of which a thing is done unless it says otherwise. */
type BuildStep = (step: Pick<WhyStep, "what"> & Partial<Omit<WhyStep, "at">> & { readonly at: Date | null }) => WhyStep;

/** Builds the steps of one service. */
export const stepsOf =
  (service: ServiceName): BuildStep =>
  (step) => ({
    service,
    id: null,
    verdict: "done",
    reason: null,
    by: null,
    link: null,
    ...step,
    at: step.at?.toISOString() ?? null,
  });

/** The reason of a hole whose thing was deleted at the end of its retention. */
export const expiredReason = (ms: number, keepMs: number): string =>
  `expired ${new Date(ms + keepMs).toISOString().slice(0, 10)}`;

/** Bounds the steps of a part or a chain, and says that there are more. */
export function cutSteps(service: ServiceName, steps: readonly WhyStep[], max: number): WhyStep[] {
  return steps.length <= max ? [...steps] : [...steps.slice(0, max - 1), leftOut(service, "Further steps")];
}

/** The hole in the place of things that are more than a chain shows. */
export const leftOut = (service: ServiceName, things: string): WhyStep =>
  stepsOf(service)({ at: null, what: `${things} are left out here.`, verdict: "hole", reason: "left out: too many" });

const bounds = { steps: 400, next: 20 } as const;

/**
 * Creates the route by which the gateway asks what a service knows of an id. A kind whose scopes the caller lacks is not
 * looked for: it answers as one that does not exist.
 */
export function whyRoutes(service: ServiceName, finders: readonly WhyFinder[]): Routes {
  const routes = createRoutes();
  routes.get("/internal/why/:id", {
    summary: "What this service knows of an id",
    auth: "anonymous",
    rateLimit: "none",
    responses: { 200: WhyPart },
    async handle({ headers, params: { id } }) {
      const caller = forwardedCaller(headers);
      const isLink = id.startsWith(marks.toThing);
      const thing = isLink ? id.slice(1) : id;
      const mayAsk = ({ scopes, knows }: WhyFinder) =>
        knows(thing) && scopes.every((scope) => caller.scopes.has(scope));
      const found = await Promise.all(
        finders.filter(mayAsk).map(async ({ find, missing }) => {
          const part = await find(caller, thing);
          return part === null && isLink && missing ? { steps: [missing(thing)], next: [] } : part;
        }),
      );
      const parts = found.filter((part) => part !== null);
      const next = isLink ? [] : parts.flatMap((part) => part.next);
      return ok({
        steps: cutSteps(
          service,
          parts.flatMap(({ steps }) => steps),
          bounds.steps,
        ),
        next: [...new Set(next)].slice(0, bounds.next),
      });
    },
  });
  return routes;
}

interface ShownReplay {
  readonly noun?: "replay" | "retry";
  readonly id: string;
  readonly link: string;
  /** The sentence about its start. */
  readonly started: string;
  /** Its progress, as a sentence without an end. */
  readonly progress: string;
  readonly status: "running" | "done" | "completed" | "cancelled";
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Builds the steps of a replay or a retry: its start, and its progress or its end. */
export function stepsOfReplay(step: BuildStep, replay: ShownReplay): WhyStep[] {
  const { noun = "replay", id, link, started, progress, status, createdAt, endedAt } = replay;
  const start = step({ at: createdAt, id, what: started, link });
  if (status === "running") {
    const reason = "waiting: for its next step";
    return [start, step({ at: null, id, what: `${progress}.`, verdict: "waiting", reason, link })];
  }
  const ended = status === "cancelled" ? "was cancelled" : "ended";
  return [start, step({ at: endedAt, id, what: `The ${noun} ${ended}: ${progress}.`, link })];
}
