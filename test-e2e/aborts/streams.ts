import type { Attempt } from "../audit/recipes/attempt.ts";
import type { Headers } from "../audit/world.ts";
import type { AbortScene } from "./scene.ts";
import { documentOf, eventStream, type Field, subscriptionFields } from "./subscribing.ts";
import type { Target } from "./wire.ts";

/** Streams over HTTP, each of which is open until its client leaves. */
export function streamTargets({ owner, cursors }: AbortScene): Target[] {
  const messages = `/api/v1/webhooks/endpoints/${owner.things.pullEndpoint}/messages`;
  const subscribe = (field: Field, by: Headers, resumeAfter?: string) =>
    stream(by, "/graphql", { query: documentOf(field), ...(resumeAfter && { extensions: { resumeAfter } }) });
  return [
    ...subscriptionFields.map((field) => target(`a stream of ${field}`, subscribe(field, owner.headers))),
    target("a stream of nobody", subscribe("configChanged", {})),
    target("a resumed stream", subscribe("accountChanged", owner.headers, cursors.accountChanged)),
    target("a resumed stream of nobody", subscribe("configChanged", {}, cursors.configChanged)),
    target("a stream of the configuration", stream(owner.headers, "/api/v1/config/stream")),
    target("a stream of messages", stream(owner.headers, `${messages}?lease_seconds=1`)),
    target("a poll", { by: owner.headers, path: `${messages}?wait_seconds=5&lease_seconds=1&limit=1`, request: {} }),
  ];
}

const target = (name: string, attempt: Attempt): Target => ({ name, make: () => Promise.resolve(attempt) });

const stream = (by: Headers, path: string, body?: unknown): Attempt => ({
  by,
  path,
  request: { headers: { accept: eventStream }, ...(body !== undefined && { body }) },
});
