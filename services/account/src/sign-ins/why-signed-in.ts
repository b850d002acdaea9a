import { hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import type { AccountService } from "../context/account-service.ts";
import { findLiveSignIn } from "./sign-in-store.ts";

const step = stepsOf("account");
const link = "/api/account/sign-ins/";

/** Finds live sign-ins, for the chain behind an id; the audit has the end of one. */
export const whySignedIn = ({ pool, clock }: AccountService): readonly WhyFinder[] => [
  {
    scopes: ["account:read"],
    knows: hasPrefix("sgn"),
    async find({ accountId }, id) {
      const signIn = await findLiveSignIn(pool, accountId, id, clock.now());
      if (signIn === null) return null;
      const { createdAt, lastUsedAt, browser } = signIn;
      const started = step({ at: createdAt, id, what: `A person signed in with ${browser ?? "a browser"}.`, link });
      const used = step({ at: lastUsedAt, id, what: "An application last got a token by it.", link });
      return { steps: [started, used], next: [] };
    },
  },
];
