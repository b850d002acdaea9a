import { AppError } from "@signalbox/core";
import type { Step } from "../app/exchange.ts";

/** Agrees on a media type before anything has an effect. Refusals are JSON whatever the client accepts. */
export const negotiate: Step = (exchange) => {
  const chosen = exchange.route.negotiate(exchange.headers.accept);
  if (chosen !== null) {
    exchange.mediaType = chosen;
    return null;
  }
  throw new AppError("not_acceptable", `This can be had as ${exchange.route.mediaTypes.join(", ")}.`);
};
