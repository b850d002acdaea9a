import { hmac } from "./digest.ts";
import { textAt } from "./payload-member.ts";
import type { Handshake } from "./signature-scheme.ts";

/** What a sender wants to hear. */
export interface HandshakeAnswer {
  readonly status: 200 | 204;
  readonly contentType: "text/plain; charset=utf-8" | "application/json";
  readonly text: string;
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

/** The answer to a verified webhook that only asks; null for an ordinary one. */
export function answerChallenge(handshake: Handshake, payload: unknown, secret: string): HandshakeAnswer | null {
  return challenges[handshake]?.(payload, secret) ?? null;
}
