import assert from "node:assert/strict";
import test from "node:test";
import { AppError } from "@signalbox/core";
import type { InternalAnswer, InternalClient } from "@signalbox/net";
import { testPerson } from "@signalbox/testing";
import { z } from "zod";
import { askedServices, createAskServices } from "./ask-services.ts";

const { principal } = testPerson();
const caller = { ...principal, requestId: "req_1", clientAddress: "203.0.113.9" };
const { signal } = new AbortController();
const answer = z.object({ items: z.array(z.string()) });

function clientOf(get: () => Promise<InternalAnswer>): InternalClient {
  return { get, post: get, close: async () => {} };
}
const answering = (status: number, body: unknown) =>
  clientOf(async () => ({ status, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }));

test("a service that is away, older or answers rubbish is named beside the answers of the others", async () => {
  const away = new AppError("unavailable", "A service that this request needs does not respond.");
  const ask = createAskServices(
    new Map([
      ["account", answering(200, { items: ["a"] })],
      ["images", clientOf(() => Promise.reject(away))],
      ["config", answering(404, { error: { code: "not_found", message: "There is nothing at this path." } })],
      ["webhook-ingest", answering(200, "<html>")],
      ["webhook-delivery", answering(502, "bad gateway")],
    ]),
  );
  const joined = await ask.getAll(askedServices, "/internal/operations/x", answer, { caller, signal });
  const older = "It runs a version that does not support this.";
  assert.deepEqual(joined.answers, [{ items: ["a"] }]);
  assert.deepEqual(joined.unavailable, [
    { service: "images", message: away.message },
    { service: "config", message: older },
    { service: "webhook-ingest", message: older },
    { service: "webhook-delivery", message: away.message },
  ]);
});

test("a refusal of the owner reaches the caller with its code and its fields", async () => {
  const details = [{ field: "reason", code: "required", message: "Say why." }];
  const error = { code: "validation_error", message: "One value is not allowed.", field: "reason", details };
  const ask = createAskServices(new Map([["images", answering(422, { error })]]));
  await assert.rejects(ask.post("images", "/internal/operations/x", {}, undefined, { caller, signal }), {
    name: "AppError",
    ...error,
  });
});

test("a client that leaves ends the question instead of blaming a service", async () => {
  const ask = createAskServices(new Map([["images", clientOf(() => Promise.reject(new Error("aborted")))]]));
  const left = AbortSignal.abort(new Error("the client left"));
  await assert.rejects(ask.getAll(["images"], "/x", answer, { caller, signal: left }), { message: "the client left" });
});
