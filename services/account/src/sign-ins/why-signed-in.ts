import { hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { SignInStore } from "./sign-in-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly signInStore: Pick<SignInStore, "find">;
  readonly now: () => Date;
}

const step = stepsOf("account");
const link = "/api/account/sign-ins/";

/** Finds live sign-ins, for the chain behind an id; the audit has the end of one. */
export const whySignedIn = ({ pool, signInStore, now }: Dependencies): readonly WhyFinder[] => [
  {
    scopes: ["account:read"],
    knows: hasPrefix("sgn"),
    async find({ accountId }, id) {
      const signIn = await signInStore.find(pool, accountId, id, now());
      if (signIn === null) return null;
      const { createdAt, lastUsedAt, browser } = signIn;
      const started = step({ at: createdAt, id, what: `A person signed in with ${browser ?? "a browser"}.`, link });
      const used = step({ at: lastUsedAt, id, what: "An application last got a token by it.", link });
      return { steps: [started, used], next: [] };
    },
  },
];
