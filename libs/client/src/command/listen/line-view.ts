import type { Context } from "../context.ts";
import { printable } from "../output.ts";
import { isSuccess, type LocalAnswer } from "./forward.ts";
import type { View, ViewOptions } from "./listener.ts";

/** Creates the view of a pipe or a log: one line for each attempt, in the order of the answers. */
export function createLineView({ output }: Context, { target }: ViewOptions): View {
  let isLost = false;
  return {
    onEndpoint({ id, secret }, replaces) {
      if (replaces) output.note(replacedNote);
      const goal = target === null ? "Events are shown" : `Events go to ${target.href}`;
      output.note(`${goal}. Endpoint ${id}, signing secret ${secret}`);
    },
    onConnection(state, reason) {
      if (state === "lost") output.note(`Reconnecting: ${reason}.`);
      else if (isLost) output.note("Connected again.");
      isLost = state === "lost";
    },
    onAttempt({ message, atMs, answer }) {
      const { type, event_id: event, delivery_id: delivery, attempt, headers, body, body_encoding: encoding } = message;
      const { status, error, ms } = answer;
      const at = new Date(atMs).toISOString();
      output.item({ at, type, event, delivery, attempt, status, error, ms, headers, body, body_encoding: encoding });
      const again = attempt > 1 ? `  attempt ${attempt}` : "";
      output.line(`${clockTime(atMs)}  ${answerWords(answer)}  ${printable(`${type}  ${delivery}`)}${again}`);
    },
    onSettled({ message, answer }, { decision, nextAttemptAt }) {
      if (isSuccess(answer)) return;
      const next = nextAttemptAt === null ? decision : `next attempt at ${clockTime(Date.parse(nextAttemptAt))}`;
      output.note(`${message.delivery_id}: ${next}`);
    },
    close() {},
  };
}

export const replacedNote =
  "The endpoint expired after more than a minute without a listener. Events since then were not forwarded;\n" +
  "`signalbox events tail --since 10m` shows them.";

/** Returns a time of today on the clock of the person. */
export const clockTime = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);

/** Describes an answer in a column: its status or error, and its time. */
export const answerWords = ({ status, error, ms }: LocalAnswer): string =>
  `${(status === null ? (error ?? "") : String(status)).padEnd(3)} ${`${ms} ms`.padStart(8)}`;
