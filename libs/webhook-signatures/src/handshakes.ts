import { hash } from "node:crypto";
import { anyMatches, hmac } from "./digest.ts";
import { textAt } from "./payload-member.ts";
import type { Handshake, SignedRequest } from "./signature-scheme.ts";

/** What a sender wants to hear. */
export interface HandshakeAnswer {
  readonly status: 200 | 204;
  readonly contentType: "text/plain; charset=utf-8" | "application/json";
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const plain = (text: string): HandshakeAnswer => ({ status: 200, contentType: "text/plain; charset=utf-8", text });
const json = (value: object): HandshakeAnswer => ({
  status: 200,
  contentType: "application/json",
  text: JSON.stringify(value),
});

type Challenge = (payload: unknown, secret: string) => HandshakeAnswer | null;

/** Questions that come as webhooks and are signed as such. */
const challenges: Readonly<Partial<Record<Handshake, Challenge>>> = {
  slack(payload) {
    const challenge = textAt(payload, ["type"]) === "url_verification" ? textAt(payload, ["challenge"]) : null;
    return challenge === null ? null : plain(challenge);
  },
  zoom(payload, secret) {
    const isQuestion = textAt(payload, ["event"]) === "endpoint.url_validation";
    const plainToken = isQuestion ? textAt(payload, ["payload", "plainToken"]) : null;
    // The answer is a signature, so a text that could be the start of a signed webhook is not signed for anybody.
    if (plainToken === null || !/^[A-Za-z0-9_-]{1,128}$/.test(plainToken)) return null;
    return json({ plainToken, encryptedToken: hmac("sha256", secret, plainToken).toString("hex") });
  },
  discord(payload) {
    const type = textAt(payload, ["type"]);
    // An interaction's PING has the type 1, and that of a webhook of events 0, without an event.
    if (type === "1") return json({ type: 1 });
    const isPing = type === "0" && textAt(payload, ["application_id"]) !== null;
    return isPing ? { ...plain(""), status: 204 } : null;
  },
};

/** A request that asks before anything is signed. */
export interface Question {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: SignedRequest["headers"];
}

/** Longer than any sender's, and nothing that a browser would take for a page. */
const echoed = /^[\x20-\x7e]{1,1024}$/;
const echo = (text: string | null): HandshakeAnswer | null => (text !== null && echoed.test(text) ? plain(text) : null);

type Asked = (question: Question, verifyToken: string | null) => HandshakeAnswer | null;

/** Questions that come by themselves, to an address that nobody has verified. */
const questions: Readonly<Partial<Record<Handshake, Asked>>> = {
  meta({ method, query }, verifyToken) {
    const given = query.get("hub.verify_token") ?? "";
    const isRight = verifyToken !== null && anyMatches([sha256(verifyToken)], [sha256(given)]);
    const isQuestion = method === "GET" && query.get("hub.mode") === "subscribe";
    return isQuestion && isRight ? echo(query.get("hub.challenge")) : null;
  },
  dropbox: ({ method, query }) => (method === "GET" ? echo(query.get("challenge")) : null),
  "microsoft-graph": ({ method, query }) => (method === "POST" ? echo(query.get("validationToken")) : null),
  cloudevents({ method, headers }) {
    const origin = headers["webhook-request-origin"];
    if (method !== "OPTIONS" || typeof origin !== "string" || !/^[A-Za-z0-9.:-]{1,253}$/.test(origin)) return null;
    return { ...plain(""), headers: { Allow: "POST", "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*" } };
  },
};

/** The answer to a sender that asks whether the address is ours; null for whoever asks in another way. */
export function answerQuestion(
  handshake: Handshake,
  question: Question,
  verifyToken: string | null,
): HandshakeAnswer | null {
  return questions[handshake]?.(question, verifyToken) ?? null;
}

const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");

/** The answer to a verified webhook that only asks; null for an ordinary one. */
export function answerChallenge(handshake: Handshake, payload: unknown, secret: string): HandshakeAnswer | null {
  return challenges[handshake]?.(payload, secret) ?? null;
}
