import assert from "node:assert/strict";
import { test } from "node:test";
import { isAppError } from "@signalbox/core";
import { PropertyCatalogue } from "./property-catalogue.ts";

const count = {
  type: "integer",
  default: 10,
  min: 1,
  max: 100,
  secrecy: "public",
  reload: "live",
  effect: "e",
} as const;
const catalogue = new PropertyCatalogue({
  account: { "database.pool.max": count, "internal.token": { ...count, secrecy: "secret" } },
  images: { "database.pool.max": { ...count, max: 50 }, "images.import.allow": { ...count, local: true } },
});

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return "ok";
  } catch (error) {
    return isAppError(error) ? `${error.code} ${error.field}` : String(error);
  }
};

test("a bare name must fit every service that declares it, a prefixed one only its own", () => {
  assert.equal(
    codeOf(() => catalogue.assertFits("database.pool.max", 80)),
    "validation_error value",
  );
  assert.equal(
    codeOf(() => catalogue.assertFits("account.database.pool.max", 80)),
    "ok",
  );
});

test("a change is announced to the audience of its property, under the name of a service too", () => {
  const own = new PropertyCatalogue({ images: { limit: { ...count, audience: "account" }, other: count } });
  assert.deepEqual(
    ["limit", "images.limit", "other", "gone"].map((name) => own.audienceOf(name)),
    [...["account", "account"], ...["operator", "operator"]],
  );
});

test("secret and local properties take no override, unknown names are missing", () => {
  assert.equal(
    codeOf(() => catalogue.assertOverridable("internal.token")),
    "validation_error name",
  );
  assert.equal(
    codeOf(() => catalogue.assertOverridable("images.import.allow")),
    "validation_error name",
  );
  assert.equal(
    codeOf(() => catalogue.assertOverridable("no.such")),
    "not_found name",
  );
  assert.equal(
    codeOf(() => catalogue.assertOverridable("database.pool.max")),
    "ok",
  );
});
