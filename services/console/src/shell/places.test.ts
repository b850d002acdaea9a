import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsFor, isWithin, placeGroups } from "./places.ts";

const namesFor = (scopes: readonly string[]) =>
  groupsFor(scopes).map(({ name, places }) => [name, ...places.map((place) => place.name)]);

test("the side bar has what a person's scopes show, without empty groups", () => {
  assert.deepEqual(namesFor([]), [[null, "Home"]]);
  assert.deepEqual(namesFor(["account:read", "config:read"]), [
    [null, "Home", "Why"],
    [null, "Account"],
    ["Operations", "Properties"],
  ]);
});

test("a page belongs to the place that its address is below, home to itself alone", () => {
  const places = placeGroups.flatMap((group) => group.places);
  const namesOf = (pathname: string) => places.filter((place) => isWithin(pathname, place)).map(({ name }) => name);
  assert.deepEqual(namesOf("/"), ["Home"]);
  assert.deepEqual(namesOf("/webhooks/events"), ["Events"]);
  assert.deepEqual(namesOf("/webhooks/event-types"), ["Event types"]);
  assert.deepEqual(namesOf("/webhooks/sources/src_1/verify"), ["Sources"]);
  assert.deepEqual(namesOf("/accounts/acc_1"), ["Accounts"]);
});
