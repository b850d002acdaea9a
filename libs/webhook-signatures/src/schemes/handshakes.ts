import { hash } from "node:crypto";
import { anyMatches, hmac } from "./digest.ts";
import { textAt } from "./payload-member.ts";
import type { Handshake, SignedRequest } from "./signature-scheme.ts";

/** Answer that a sender expects. */
export interface HandshakeAnswer {
  /** URL that has to be requested first; the answer holds once that succeeds. */
  readonly confirmUrl?: string;
  readonly status: 200 | 204;
  readonly contentType: "text/plain; charset=utf-8" | "application/json";
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The secret that the sender will sign with, which its owner still has to give to the source. */
  readonly offeredSecret?: string;
}

const plain = (text: string): HandshakeAnswer => ({ status: 200, contentType: "text/plain; charset=utf-8", text });
const json = (value: object): HandshakeAnswer => ({
  status: 200,
  contentType: "application/json",
  text: JSON.stringify(value),
});

type Challenge = (payload: unknown, secret: string) => HandshakeAnswer | null;

/** Verification requests that arrive as signed webhooks. */
const challenges: Readonly<Partial<Record<Handshake, Challenge>>> = {
  slack(payload) {
    const challenge = textAt(payload, ["type"]) === "url_verification" ? textAt(payload, ["challenge"]) : null;
    return challenge === null ? null : plain(challenge);
  },
  zoom(payload, secret) {
    const isQuestion = textAt(payload, ["event"]) === "endpoint.url_validation";
    const plainToken = isQuestion ? textAt(payload, ["payload", "plainToken"]) : null;
    // The answer is a signature, so a text that could start a signed webhook is not signed.
    if (plainToken === null || !/^[A-Za-z0-9_-]{1,128}$/.test(plainToken)) return null;
    return json({ plainToken, encryptedToken: hmac("sha256", secret, plainToken).toString("hex") });
  },
  discord(payload) {
    const type = textAt(payload, ["type"]);
    // The PING of an interaction has the type 1, as a webhook event has, and that of webhook events the type 0.
    if (type === "1" && !hasMember(payload, "event")) return json({ type: 1 });
    const isPing = type === "0" && textAt(payload, ["application_id"]) !== null;
    return isPing ? { ...plain(""), status: 204 } : null;
  },
  twitch(payload) {
    // A notification has an event, the question has none.
    const isQuestion = textAt(payload, ["subscription", "id"]) !== null && !hasMember(payload, "event");
    return isQuestion ? echo(textAt(payload, ["challenge"])) : null;
  },
  "event-grid"(payload) {
    const isQuestion = textAt(payload, ["0", "eventType"]) === "Microsoft.EventGrid.SubscriptionValidationEvent";
    const validationResponse = isQuestion ? textAt(payload, ["0", "data", "validationCode"]) : null;
    return validationResponse === null ? null : json({ validationResponse });
  },
  monday(payload) {
    const challenge = hasMember(payload, "event") ? null : textAt(payload, ["challenge"]);
    return challenge === null ? null : json({ challenge });
  },
  "aws-sns"(payload) {
    const isQuestion = textAt(payload, ["Type"]) === "SubscriptionConfirmation";
    const confirmUrl = isQuestion ? textAt(payload, ["SubscribeURL"]) : null;
    return confirmUrl === null ? null : { ...plain(""), confirmUrl };
  },
};

const hasMember = (payload: unknown, name: string): boolean =>
  typeof payload === "object" && payload !== null && Object.hasOwn(payload, name);

/** A verification request that arrives before anything is signed. */
export interface HandshakeRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: SignedRequest["headers"];
}

/** Longer than any sender's text, and nothing that a browser would show as a page. */
const echoed = /^[\x20-\x7e]{1,1024}$/;
const echo = (text: string | null): HandshakeAnswer | null => (text !== null && echoed.test(text) ? plain(text) : null);

/** Texts that an unsigned verification request is answered with. */
interface Proofs {
  readonly verifyToken: string | null;
  readonly secret: string;
}

type Asked = (request: HandshakeRequest, proofs: Proofs) => HandshakeAnswer | null;

/** Unsigned verification requests, to an address that is not verified yet. */
const handshakeRequests: Readonly<Partial<Record<Handshake, Asked>>> = {
  meta({ method, query }, { verifyToken }) {
    const given = query.get("hub.verify_token") ?? "";
    const isRight = verifyToken !== null && anyMatches([sha256(verifyToken)], [sha256(given)]);
    const isQuestion = method === "GET" && query.get("hub.mode") === "subscribe";
    return isQuestion && isRight ? echo(query.get("hub.challenge")) : null;
  },
  asana({ method, headers }) {
    const secret = headers["x-hook-secret"];
    if (method !== "POST" || typeof secret !== "string" || !/^[\w-]{16,256}$/.test(secret)) return null;
    return { ...plain(""), headers: { "X-Hook-Secret": secret }, offeredSecret: secret };
  },
  head: ({ method }) => (method === "HEAD" ? plain("") : null),
  dropbox: ({ method, query }) => (method === "GET" ? echo(query.get("challenge")) : null),
  // SharePoint writes the name in lower case.
  "microsoft-graph": ({ method, query }) =>
    method === "POST" ? echo(query.get("validationToken") ?? query.get("validationtoken")) : null,
  okta({ method, headers }) {
    const challenge = headers["x-okta-verification-challenge"];
    if (method !== "GET" || typeof challenge !== "string" || !echoed.test(challenge)) return null;
    return json({ verification: challenge });
  },
  x({ method, query }, { secret }) {
    const token = query.get("crc_token") ?? "";
    // Anybody may ask, and the answer is a signature: only what can be no webhook is signed.
    if (method !== "GET" || secret === "" || !/^[A-Za-z0-9_-]{1,128}$/.test(token)) return null;
    return json({ response_token: `sha256=${hmac("sha256", secret, token).toString("base64")}` });
  },
  cloudevents({ method, headers }) {
    const origin = headers["webhook-request-origin"];
    if (method !== "OPTIONS" || typeof origin !== "string" || !/^[A-Za-z0-9.:-]{1,253}$/.test(origin)) return null;
    return { ...plain(""), headers: { Allow: "POST", "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*" } };
  },
};

/** Answers a sender's verification request; returns null for any other request. */
export function answerHandshakeRequest(
  handshake: Handshake,
  request: HandshakeRequest,
  proofs: Proofs,
): HandshakeAnswer | null {
  return handshakeRequests[handshake]?.(request, proofs) ?? null;
}

const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");

/** Answers a verified webhook that is a challenge; returns null for an ordinary one. */
export function answerChallenge(handshake: Handshake, payload: unknown, secret: string): HandshakeAnswer | null {
  return challenges[handshake]?.(payload, secret) ?? null;
}
