import { AppError } from "@signalbox/core";
import { announcesBody, bodyTooSlow } from "../request/read-body.ts";
import type { Exchange } from "./exchange.ts";

/** Calls `expire` when the request takes too long. Returns how to call that off. */
export function armDeadline(exchange: Exchange, expire: (error: AppError) => void): () => void {
  const { route, edge, request } = exchange;
  const ms = route.deadlineMs === undefined ? edge.live.requestTimeoutMs : route.deadlineMs;
  if (ms === null) return () => {};
  const isUpload = route.body?.kind === "multipart";
  let bytesSeen = isUpload ? request.socket.bytesRead : 0;

  const timer = setTimeout(() => {
    if (request.complete || !announcesBody(request)) return expire(tooSlow());
    if (!isUpload) return expire(bodyTooSlow());
    const { bytesRead } = request.socket;
    // A file may take as long as it likes while it moves.
    if (bytesRead > bytesSeen) {
      bytesSeen = bytesRead;
      timer.refresh();
      return;
    }
    // What has arrived and is not taken waits for us.
    expire(request.readableLength > 0 ? tooSlow() : bodyTooSlow());
  }, ms);
  return () => clearTimeout(timer);
}

const tooSlow = () => new AppError("timeout", "The request took too long.");
