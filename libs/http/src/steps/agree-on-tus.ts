import type { Step } from "../exchange/exchange.ts";
import { refused } from "../routes/http-response.ts";
import { tusVersion } from "../uploads/tus.ts";

/** Refuses other versions of tus. A request without one speaks another protocol. */
export const agreeOnTus: Step = ({ headers: { "tus-resumable": asked } }) => {
  if (asked === undefined || asked === tusVersion) return null;
  const message = `The version of tus is ${tusVersion}.`;
  return refused(412, "invalid_request", { message, headers: { "Tus-Version": tusVersion } });
};
