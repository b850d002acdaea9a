import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { createSealer, type SealedPlace } from "./sealer.ts";

const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const [old, current] = [key("2025"), key("2026")];
const place: SealedPlace = { service: "account", table: "clients", row: "cl_1" };
const refusal = {
  name: "SealError",
  message: "the sealed text of account/clients/cl_1 cannot be opened with the keys given",
};

describe("sealer", () => {
  it("opens what it sealed, text or bytes, also empty", () => {
    const sealer = createSealer([current]);
    for (const plain of ["", "secret ✓", randomBytes(1_000)]) {
      assert.deepEqual(sealer.open(sealer.seal(plain, place), place), Buffer.from(plain));
    }
  });

  it("never gives the same text twice, nor shows anything of the secret", () => {
    const sealer = createSealer([current]);
    const [first, second] = [sealer.seal("secret", place), sealer.seal("secret", place)];
    assert.notEqual(first, second);
    assert.match(first, /^v1\.2026\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
  });

  it("seals with the first key but opens with all", () => {
    const sealed = createSealer([old]).seal("secret", place);
    const rotated = createSealer([current, old]);
    assert.equal(rotated.open(sealed, place).toString(), "secret");
    assert.equal(rotated.keyId(rotated.seal("secret", place)), "2026");
  });

  it("seals anew only what another key has sealed", () => {
    const rotated = createSealer([current, old]);
    const again = rotated.reseal(createSealer([old]).seal("secret", place), place) ?? "";
    assert.equal(createSealer([current]).open(again, place).toString(), "secret");
    assert.equal(rotated.reseal(again, place), null);
  });

  it("does not open in another row, table or service", () => {
    const sealer = createSealer([current]);
    const sealed = sealer.seal("secret", place);
    for (const other of [
      { row: "cl_2" },
      { table: "keys" },
      { service: "images" },
      { table: "clients/cl_1", row: "" },
    ]) {
      assert.throws(() => sealer.open(sealed, { ...place, ...other }), { name: "SealError" });
    }
  });

  it("does not open with another key, even under the same id", () => {
    const sealed = createSealer([current]).seal("secret", place);
    assert.throws(() => createSealer([old]).open(sealed, place), refusal);
    assert.throws(() => createSealer([key("2026")]).open(sealed, place), refusal);
  });

  it("refuses a text with any character changed or cut off, always in the same words", () => {
    const sealer = createSealer([current]);
    const sealed = sealer.seal("secret", place);
    for (let position = 0; position < sealed.length; position++) {
      assert.throws(() => sealer.open(sealed.slice(0, position), place), refusal);
      for (const other of ["A", "B", "z", "_", "."].filter((character) => character !== sealed[position])) {
        const changed = sealed.slice(0, position) + other + sealed.slice(position + 1);
        assert.throws(() => sealer.open(changed, place), refusal, `${other} at ${position}`);
      }
    }
    const twins = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
      .map((last) => sealed.slice(0, -1) + last)
      .filter((text) => text !== sealed);
    for (const twin of twins)
      assert.throws(() => sealer.open(twin, place), refusal, "bits that base64 drops count too");
    for (const rubbish of ["v2.2026.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA", `${sealed}\n`, `${sealed}.x`, "null"]) {
      assert.throws(() => sealer.open(rubbish, place), refusal);
    }
  });

  it("refuses keys of another form without showing them", () => {
    for (const keys of [[], ["short:AAAA"], ["no-colon"], [current, current], [`${current}extra`]]) {
      assert.throws(
        () => createSealer(keys),
        (error: Error) => /secrets\.keys/.test(error.message) && !error.message.includes(current.slice(5, 20)),
      );
    }
  });
});
