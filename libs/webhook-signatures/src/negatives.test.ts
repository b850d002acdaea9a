import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { test } from "node:test";
import { hmac } from "./schemes/digest.ts";
import { type SchemeName, schemeNames, schemeOf } from "./schemes/schemes.ts";

/**
 * Schemes whose requests are written in this file; `generated-negatives.test.ts` covers the schemes that a source
 * configures.
 */
const configured = ["ed25519", "token", "jwt"] as const;
type FixedName = Exclude<SchemeName, (typeof configured)[number]>;
const names = schemeNames.filter((name): name is FixedName => !configured.some((other) => other === name));

const nowSeconds = 1_700_000_000;
const body = Buffer.from('{"id":"evt_1","type":"order.created"}');
const textSecret = "a plain secret";
const standardSecret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

/** A valid request of a scheme with the time written as `time`, and the places of its parts. */
function rightRequest(name: FixedName, time = String(nowSeconds), content: Buffer = body) {
  const hex = (start: string) => hmac("sha256", textSecret, start, content).toString("hex");
  const key = Buffer.alloc(32, 5);
  const headers: Record<FixedName, Record<string, string>> = {
    "standard-webhooks": {
      "webhook-id": "msg_1",
      "webhook-timestamp": time,
      "webhook-signature": `v1,${hmac("sha256", key, `msg_1.${time}.`, content).toString("base64")}`,
    },
    stripe: { "stripe-signature": `t=${time},v1=${hex(`${time}.`)}` },
    github: { "x-hub-signature-256": `sha256=${hex("")}`, "x-github-delivery": "d1", "x-github-event": "push" },
    slack: { "x-slack-request-timestamp": time, "x-slack-signature": `v0=${hex(`v0:${time}:`)}` },
    shopify: { "x-shopify-hmac-sha256": hmac("sha256", textSecret, content).toString("base64") },
    hmac: {
      "x-timestamp": time,
      "x-signature": `sha256=${hex(`${time}.`)}`,
      "x-delivery-id": "d1",
      "x-event-type": "a.b",
    },
  };
  return { headers: headers[name] as Record<string, string | string[]>, body: content };
}

function judge(
  name: FixedName,
  { headers, body }: { headers: Record<string, string | string[]>; body: Uint8Array },
  secrets?: string[],
) {
  const request = { method: "POST", url: "https://example.com/ingest", headers, body };
  const live = secrets ?? [name === "standard-webhooks" ? standardSecret : textSecret];
  const verdict = schemeOf(name).verify(request, { secrets: live, nowSeconds, toleranceSeconds: 300 });
  return verdict.verified ? "verified" : verdict.problem;
}

const timed = names.filter((name) => schemeOf(name).signsTime);
const timeHeader = {
  "standard-webhooks": "webhook-timestamp",
  slack: "x-slack-request-timestamp",
  hmac: "x-timestamp",
};
const signatureHeader: Record<FixedName, string> = {
  "standard-webhooks": "webhook-signature",
  stripe: "stripe-signature",
  github: "x-hub-signature-256",
  slack: "x-slack-signature",
  shopify: "x-shopify-hmac-sha256",
  hmac: "x-signature",
};

for (const name of names) {
  test(`${name}: a valid request passes, even with a body that is not UTF-8`, () => {
    assert.equal(judge(name, rightRequest(name)), "verified");
    assert.equal(judge(name, rightRequest(name, undefined, Buffer.from([0xff, 0x00, 0xfe, 0x0a]))), "verified");
    assert.equal(judge(name, rightRequest(name, undefined, Buffer.alloc(0))), "verified");
  });

  test(`${name}: one changed, added or missing byte of the body fails`, () => {
    const { headers } = rightRequest(name);
    const changed = Buffer.from(body);
    changed[3] = (changed[3] as number) ^ 1;
    for (const other of [changed, Buffer.concat([body, Buffer.from("\n")]), body.subarray(1), Buffer.alloc(0)]) {
      assert.equal(judge(name, { headers, body: other }), "signature_mismatch");
    }
  });

  test(`${name}: no signature, an empty, a repeated or a malformed one fails`, () => {
    const { headers } = rightRequest(name);
    const at = signatureHeader[name];
    const right = headers[at] as string;
    const { [at]: _removed, ...rest } = headers;
    assert.equal(judge(name, { headers: rest, body }), "signature_missing");
    assert.equal(judge(name, { headers: { ...headers, [at]: "" }, body }), "signature_missing");
    assert.equal(judge(name, { headers: { ...headers, [at]: [right, right] }, body }), "header_repeated");
    for (const wrong of [
      "=",
      ",",
      "x",
      "v1",
      "v1,",
      "v1=",
      "sha256=",
      "v0=",
      right.slice(0, -3),
      `${right}zz`,
      `é${right}`,
      `\u0000${right}`,
    ]) {
      assert.notEqual(judge(name, { headers: { ...headers, [at]: wrong }, body }), "verified", wrong);
    }
  });

  test(`${name}: an empty or wrong secret, or one of another scheme, fails without throwing`, () => {
    const request = rightRequest(name);
    for (const secrets of [
      [],
      [""],
      ["wrong"],
      ["", "wrong"],
      ["whsec_"],
      ["whsec_====", "whpk_", "whpk_AAAA", "whsk_x"],
    ]) {
      assert.notEqual(judge(name, request, secrets), "verified", secrets.join());
    }
  });

  test(`${name}: a signature of another scheme, of another hash or without the secret fails`, () => {
    const { headers } = rightRequest(name);
    const secret = name === "standard-webhooks" ? standardSecret : textSecret;
    for (const other of names.filter((one) => one !== name)) {
      const { headers: foreign } = rightRequest(other);
      const carried = { ...headers, ...foreign, [signatureHeader[name]]: foreign[signatureHeader[other]] as string };
      assert.notEqual(judge(name, { headers: carried, body }, [secret]), "verified", other);
    }
    const digests = [hash("sha256", body), ...["sha1", "md5"].map((one) => createHmac(one, secret).update(body))];
    const texts = digests.map((one) => (typeof one === "string" ? one : one.digest("hex")));
    for (const digest of [...texts, secret, "0".repeat(64), "true null undefined"]) {
      for (const prefix of ["", "v1,", `t=${nowSeconds},v1=`, "sha256=", "v0="]) {
        const wrong = { ...headers, [signatureHeader[name]]: `${prefix}${digest}` };
        assert.notEqual(judge(name, { headers: wrong, body }), "verified", `${prefix}${digest}`);
      }
    }
  });

  test(`${name}: while a rotation overlaps, either secret passes`, () => {
    const right = name === "standard-webhooks" ? standardSecret : textSecret;
    const other = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
    assert.equal(judge(name, rightRequest(name), [other, right]), "verified");
    assert.equal(judge(name, rightRequest(name), [right, other]), "verified");
    assert.equal(judge(name, rightRequest(name), [other]), "signature_mismatch");
  });
}

for (const name of timed) {
  test(`${name}: a time outside the tolerance fails both ways, at its edge it passes`, () => {
    assert.equal(judge(name, rightRequest(name, String(nowSeconds - 300))), "verified");
    assert.equal(judge(name, rightRequest(name, String(nowSeconds + 300))), "verified");
    assert.equal(judge(name, rightRequest(name, String(nowSeconds - 301))), "timestamp_too_old");
    assert.equal(judge(name, rightRequest(name, String(nowSeconds + 301))), "timestamp_in_future");
  });

  test(`${name}: a signed time that is no plain count of seconds fails`, () => {
    for (const time of [
      "-1",
      "1.7e9",
      `${nowSeconds}.0`,
      `+${nowSeconds}`,
      ` ${nowSeconds}x`,
      "0x6553f100",
      "NaN",
      "2023-11-14T22:13:20Z",
      `${nowSeconds}000000`,
      "１７００００００００",
    ]) {
      assert.equal(judge(name, rightRequest(name, time)), "timestamp_malformed", time);
    }
  });

  test(`${name}: another time than the signed one fails`, () => {
    const { headers } = rightRequest(name);
    const later = String(nowSeconds + 1);
    const changed =
      name === "stripe"
        ? { "stripe-signature": (headers["stripe-signature"] as string).replace(String(nowSeconds), later) }
        : { [timeHeader[name as keyof typeof timeHeader]]: later };
    assert.equal(judge(name, { headers: { ...headers, ...changed }, body }), "signature_mismatch");
  });
}

for (const name of ["standard-webhooks", "slack", "hmac"] as const) {
  test(`${name}: no time, or two, fails`, () => {
    const { headers } = rightRequest(name);
    const at = timeHeader[name];
    const { [at]: right, ...rest } = headers;
    assert.equal(judge(name, { headers: rest, body }), "timestamp_missing");
    assert.equal(
      judge(name, { headers: { ...headers, [at]: [right as string, right as string] }, body }),
      "header_repeated",
    );
  });
}

test("stripe: the time must appear exactly once, among any other members", () => {
  const right = rightRequest("stripe").headers["stripe-signature"] as string;
  const [time, signature] = right.split(",") as [string, string];
  const judged = (value: string) => judge("stripe", { headers: { "stripe-signature": value }, body });
  assert.equal(judged(signature), "timestamp_missing");
  assert.equal(judged(time), "signature_missing");
  assert.equal(judged(`t=1,${right}`), "timestamp_malformed");
  assert.equal(judged(`${signature},${time}`), "verified");
  assert.equal(judged(`${time},v0=aa,${signature},v2=bb`), "verified");
  assert.equal(judged(right.replace("v1=", "v0=")), "signature_missing");
});

test("a valid signature among wrong ones passes, wrong ones alone do not", () => {
  const wrongHex = "0".repeat(64);
  const wrongBase64 = Buffer.alloc(32).toString("base64");
  const stripe = rightRequest("stripe").headers["stripe-signature"] as string;
  const [time, signature] = stripe.split(",") as [string, string];
  const judgeStripe = (value: string) => judge("stripe", { headers: { "stripe-signature": value }, body });
  assert.equal(judgeStripe(`${time},v1=${wrongHex},${signature},v1=nonsense`), "verified");
  assert.equal(judgeStripe(`${time},v1=${wrongHex},v1=nonsense`), "signature_mismatch");

  const standard = rightRequest("standard-webhooks");
  const right = standard.headers["webhook-signature"] as string;
  const judgeStandard = (value: string) =>
    judge("standard-webhooks", { headers: { ...standard.headers, "webhook-signature": value }, body });
  assert.equal(judgeStandard(`v1,${wrongBase64} v2,later ${right} v1a,short`), "verified");
  assert.equal(judgeStandard(`v1,${wrongBase64} v2,later v1a,short`), "signature_mismatch");
  assert.equal(judgeStandard(right.replace("v1,", "v1a,")), "signature_malformed");
  assert.equal(judgeStandard(right.replace("v1,", "v2,")), "signature_malformed");
  assert.equal(judgeStandard(`${`v1,${wrongBase64} `.repeat(1000)}${right}`), "signature_mismatch");

  const plain = rightRequest("hmac");
  const previous = {
    ...plain.headers,
    "x-signature": `sha256=${wrongHex}`,
    "x-signature-previous": plain.headers["x-signature"] as string,
  };
  assert.equal(judge("hmac", { headers: previous, body }), "verified");
});

test("standard-webhooks: the id is signed, so that another or none fails", () => {
  const { headers } = rightRequest("standard-webhooks");
  const { "webhook-id": _id, ...rest } = headers;
  assert.equal(
    judge("standard-webhooks", { headers: { ...headers, "webhook-id": "msg_2" }, body }),
    "signature_mismatch",
  );
  assert.equal(judge("standard-webhooks", { headers: rest, body }), "delivery_id_missing");
});

test("a secret is checked before it is stored", () => {
  assert.equal(schemeOf("standard-webhooks").secretProblem(standardSecret), null);
  for (const secret of [
    "",
    "whsec_",
    "whsec_AAAA",
    "plain text",
    `whsec_${Buffer.alloc(65).toString("base64")}`,
    "whpk_AAAA",
  ]) {
    assert.notEqual(schemeOf("standard-webhooks").secretProblem(secret), null, secret);
  }
  for (const name of ["stripe", "github", "slack", "shopify", "hmac"] as const) {
    assert.equal(schemeOf(name).secretProblem("It's a Secret to Everybody"), null);
    for (const secret of ["", "line\nbreak", "nul\u0000", "x".repeat(513)]) {
      assert.notEqual(schemeOf(name).secretProblem(secret), null);
    }
  }
});
