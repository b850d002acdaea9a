import { AppError, minutes, seconds } from "@signalbox/core";
import { announcesBody, bodyTooSlow } from "../request/read-body.ts";
import type { Exchange } from "./exchange.ts";

/** A file may take this long while it moves, and moves while so many bytes come in each stretch of time. */
const uploadPace = { bytesPerSecond: 4_096, stretchMs: seconds(10), endMs: minutes(15) };

/** Calls `expire` when the request takes too long. Returns how to call that off. */
export function armDeadline(exchange: Exchange, expire: (error: AppError) => void): () => void {
  const { route, edge, request } = exchange;
  const ms = route.deadlineMs === undefined ? edge.live.requestTimeoutMs : route.deadlineMs;
  if (ms === null) return () => {};
  if (route.body?.takesFiles && announcesBody(request)) return armUpload(exchange, ms, expire);
  const timer = setTimeout(() => {
    expire(request.complete || !announcesBody(request) ? tooSlow() : bodyTooSlow());
  }, ms);
  return () => clearTimeout(timer);
}

/** While a file arrives its pace is watched; from its end on, the answer has the time that any other has. */
function armUpload({ request, edge }: Exchange, answerMs: number, expire: (error: AppError) => void): () => void {
  const { clock } = edge.context;
  const stretchMs = Math.min(uploadPace.stretchMs, answerMs);
  const wanted = (uploadPace.bytesPerSecond * stretchMs) / 1000;
  const endsMs = clock.steadyMs() + uploadPace.endMs;
  let seen = request.socket.bytesRead;
  let untakenMs = 0;
  const look = () => {
    const { bytesRead } = request.socket;
    // What has arrived and is not taken waits for us: the client is not to blame.
    const isUntaken = request.readableLength > 0;
    untakenMs = isUntaken ? untakenMs + stretchMs : 0;
    if (clock.steadyMs() >= endsMs) return expire(bodyTooSlow());
    if (untakenMs >= answerMs) return expire(tooSlow());
    if (bytesRead - seen < wanted && !isUntaken) return expire(bodyTooSlow());
    seen = bytesRead;
  };
  let timer: NodeJS.Timeout = setInterval(look, stretchMs);
  const onEnd = () => {
    clearInterval(timer);
    timer = setTimeout(() => expire(tooSlow()), answerMs);
  };
  request.once("end", onEnd);
  return () => {
    request.off("end", onEnd);
    clearTimeout(timer);
  };
}

const tooSlow = () => new AppError("timeout", "The request took too long.");
