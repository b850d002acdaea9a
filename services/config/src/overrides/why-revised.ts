import { stepsOf, type WhyFinder } from "@signalbox/service";
import type { ConfigService } from "../context/config-service.ts";
import { listHistory } from "./override-store.ts";

const step = stepsOf("config");
/** `<property>@<revision>` */
const revisionId = /^([a-z][\w.-]{2,100})@([1-9][0-9]{0,15})$/;

/** Finds one revision of a property, for the chain behind an id. Values are in the history, masked by their secrecy. */
export const whyRevised = ({ pool }: ConfigService): readonly WhyFinder[] => [
  {
    scopes: ["config:admin"],
    knows: (id) => revisionId.test(id),
    async find(_caller, id) {
      const [, property = "", revision = ""] = revisionId.exec(id) ?? [];
      const before = { at: new Date(0), id: String(BigInt(revision) + 1n) };
      const [change] = await listHistory(pool, property, { after: before, limit: 1 });
      if (change?.revision !== BigInt(revision)) return null;
      const { set, actor, reason, credential, changedAt, expiresAt, requestId } = change;
      const what = `${property} was ${set ? "set" : "unset"} by ${actor}.`;
      const revised = step({ at: changedAt, id, what, reason, by: credential });
      const expires = expiresAt && step({ at: expiresAt, id, what: "The override expires.", verdict: "waiting" });
      return { steps: expires ? [revised, expires] : [revised], next: requestId === null ? [] : [requestId] };
    },
  },
];
