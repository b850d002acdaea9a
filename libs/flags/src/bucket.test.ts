import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { bucketOf, buckets, isWithin } from "./bucket.ts";

test("the published vectors, computed by another program, match", async () => {
  const file = new URL("../../../docs/reference/flag-buckets.json", import.meta.url);
  const { vectors } = JSON.parse(await readFile(file, "utf8"));
  assert.ok(vectors.length >= 20);
  for (const { salt, targeting_key: key, bucket } of vectors)
    assert.equal(bucketOf(salt, key), bucket, `${salt} ${key}`);
});

test("raising a percentage only adds accounts", () => {
  const percentage = fc.integer({ min: 0, max: buckets }).map((count) => count / 1_000);
  fc.assert(
    fc.property(fc.string(), fc.string(), percentage, percentage, (salt, key, one, other) => {
      const bucket = bucketOf(salt, key);
      const [less, more] = one < other ? [one, other] : [other, one];
      return !isWithin(bucket, less) || isWithin(bucket, more);
    }),
  );
});

test("no account is in 0 %, every one in 100 %, and each thousandth of a percent is one bucket", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: buckets - 1 }), (bucket) => {
      assert.equal(isWithin(bucket, 0), false);
      assert.equal(isWithin(bucket, 100), true);
      assert.equal(isWithin(bucket, bucket / 1_000), false);
      assert.equal(isWithin(bucket, (bucket + 1) / 1_000), true);
    }),
  );
});

test("a hundred thousand accounts are spread evenly: each share is hit within one percent", () => {
  const count = 100_000;
  const found = Array.from({ length: count }, (_, index) => bucketOf("even", `acc_${index}`));
  for (const percentage of [1, 10, 33.333, 50, 90]) {
    const share = (found.filter((bucket) => isWithin(bucket, percentage)).length / count) * 100;
    assert.ok(Math.abs(share - percentage) < 1, `${percentage} %: ${share} %`);
  }
});
