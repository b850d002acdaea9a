import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@signalbox/client";
import { mergeInputs, saveVersion } from "./save-version.ts";

interface Image {
  readonly title: string;
  readonly status: string;
}

/** A server that has one version, and refuses a save over another. */
function serverOf(data: Image, etag: string) {
  const handed: Image[] = [];
  const rules = {
    read: async () => ({ data, etag }),
    save: async ({ title }: { readonly title: string }, before: Image, ifMatch: string | null) => {
      if (ifMatch !== etag) throw new ApiError(new Response(null, { status: 412 }), { error: { code: "conflict" } });
      return { data: { ...before, title }, etag: "saved" };
    },
    inputOf: ({ title }: Image) => ({ title }),
  };
  const on = { data: { title: "before", status: "processing" }, etag: "1" };
  const save = (title: string) => saveVersion(rules, { input: { title }, on }, (theirs) => handed.push(theirs.data));
  return { save, handed };
}

test("a version that differs in nothing that the form has is saved over without a word", async () => {
  const { save, handed } = serverOf({ title: "before", status: "ready" }, "2");
  assert.deepEqual((await save("mine")).data, { title: "mine", status: "ready" });
  assert.deepEqual(handed, []);
});

test("a version in which somebody changed the same field is handed over first", async () => {
  const { save, handed } = serverOf({ title: "theirs", status: "processing" }, "2");
  await assert.rejects(save("mine"), ApiError);
  assert.deepEqual(
    handed.map(({ title }) => title),
    ["theirs"],
  );
});

test("a field that one of two people changed keeps their value", () => {
  const base = { title: "a", tags: ["x"], url: "u", note: "n" };
  const merge = mergeInputs(base, { ...base, title: "mine", note: "m" }, { ...base, tags: ["y"], note: "t" });
  assert.deepEqual(merge, { merged: { title: "mine", tags: ["y"], url: "u", note: "m" }, contested: ["note"] });
});

test("a field that both changed to one value is no question", () => {
  assert.deepEqual(mergeInputs({ title: "a" }, { title: "b" }, { title: "b" }).contested, []);
});

test("a conflict that left the version as it was is a refusal", async () => {
  const { save, handed } = serverOf({ title: "before", status: "processing" }, "1");
  assert.equal((await save("mine")).etag, "saved");
  const limited = { read: async () => ({ data: {}, etag: "1" }), inputOf: () => ({}) };
  const refuse = async () => {
    throw new ApiError(new Response(null, { status: 409 }), { error: { code: "conflict" } });
  };
  await assert.rejects(
    saveVersion({ ...limited, save: refuse }, { input: {}, on: { data: {}, etag: "1" } }, () => handed.push()),
    ApiError,
  );
  assert.deepEqual(handed, []);
});
