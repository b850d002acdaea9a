import { crc32 } from "node:zlib";
import type { Headers } from "../../audit/world.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Appends the right check digits of a key's body, which are documented. */
function withCheckDigits(body: string): string {
  let value = crc32(body);
  let text = "";
  for (let at = 0; at < 6; at++, value = Math.floor(value / 62)) text = (digits[value % 62] ?? "") + text;
  return body + text;
}

/** Texts that differ from the key. */
const mutations: Readonly<Record<string, (key: string) => string>> = {
  "of nobody with good check digits": () => withCheckDigits(`sbx_dev_${"A".repeat(30)}`),
  "of another environment with good check digits": (key) =>
    withCheckDigits(key.slice(0, -6).replace("_dev_", "_live_")),
  "with its last character changed": (key) => key.slice(0, -1) + (key.endsWith("A") ? "B" : "A"),
  "with its first random character changed": (key) =>
    key.replace(/_(\w)(?=\w{35}$)/, (_, first) => `_${first === "A" ? "B" : "A"}`),
  "without its last character": (key) => key.slice(0, -1),
  "with a character more": (key) => `${key}A`,
  "in small letters": (key) => key.toLowerCase(),
  "in capitals": (key) => key.toUpperCase(),
  "written twice": (key) => key + key,
  "in a list with itself": (key) => `${key},${key}`,
  "in quotes": (key) => `"${key}"`,
  "in percent encoding": (key) => key.replace("_", "%5F"),
  "as its prefix alone": () => "sbx_dev_",
  "as the hint that lists show": (key) => key.slice(0, 12),
  "with a statement behind it": (key) => `${key}'or'1'='1`,
  "of eight kilobytes": () => `sbx_dev_${"A".repeat(8_000)}`,
  "of four words": () => "undefined",
};

/** Wrong places for a key, with the status of their refusal. */
const places: Readonly<Record<string, (key: string) => Headers>> = {
  "in a cookie": (key) => ({ cookie: `x-api-key=${key}; api_key=${key}; access_token=${key}` }),
  "as X-Auth-Token": (key) => ({ "x-auth-token": key, "api-key": key, "x-access-token": key }),
  "as Proxy-Authorization": (key) => ({ "proxy-authorization": `Bearer ${key}` }),
  "as X-Forwarded-Authorization": (key) => ({
    "x-forwarded-authorization": `Bearer ${key}`,
    "x-original-authorization": `Bearer ${key}`,
  }),
  "as the internal token": (key) => ({ "x-signalbox-internal-token": key }),
  "under the scheme Token": (key) => ({ authorization: `Token ${key}` }),
  "under the scheme ApiKey": (key) => ({ authorization: `ApiKey ${key}` }),
  "under the scheme DPoP": (key) => ({ authorization: `DPoP ${key}` }),
  "without a scheme": (key) => ({ authorization: key }),
  "as the user name of Basic": (key) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }),
  "as Basic without a colon": (key) => ({ authorization: `Basic ${Buffer.from(key).toString("base64")}` }),
  "as Basic that is not encoded": (key) => ({ authorization: `Basic user:${key}` }),
  "as a Bearer token in quotes": (key) => ({ authorization: `Bearer "${key}"` }),
  "as two Bearer tokens": (key) => ({ authorization: `Bearer ${key} Bearer ${key}` }),
};

/** Builds every set of headers that must be refused, from a valid key. */
export function keyForgeries(key: string): ReadonlyMap<string, Headers> {
  return new Map([
    ...Object.entries(mutations).flatMap(([what, mutate]) => {
      const wrong = mutate(key);
      return [
        [`a key ${what}`, { "x-api-key": wrong }],
        [`a key ${what} as Bearer`, { authorization: `Bearer ${wrong}` }],
        [`a key ${what} as Basic`, { authorization: `Basic ${Buffer.from(`user:${wrong}`).toString("base64")}` }],
      ] as const;
    }),
    ...Object.entries(places).map(([what, headers]) => [`a good key ${what}`, headers(key)] as const),
  ]);
}
