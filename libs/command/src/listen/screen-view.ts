import { emitKeypressEvents } from "node:readline";
import { dataOf } from "@signalbox/client";
import type { Connection, Context } from "../context.ts";
import { describeFailure } from "../failures.ts";
import { replacedNote } from "./line-view.ts";
import type { View, ViewOptions } from "./listener.ts";
import {
  emptyList,
  type MessageList,
  renderList,
  selectedRow,
  withAttempt,
  withKey,
  withSettled,
} from "./message-list.ts";
import { openInBrowser } from "./open-in-browser.ts";

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
const home = "\u001b[H";
const clearLine = "\u001b[K";
/** Frames are at least this far apart, however many messages come. */
const frameMs = 40;

/** Creates the view of a terminal: a list of messages, driven by keys. */
export function createScreenView(
  { stdin, stdout, output }: Pick<Context, "stdin" | "stdout" | "output">,
  connection: Connection,
  { target, stop }: ViewOptions,
): View {
  let list: MessageList = emptyList;
  let state = "connecting";
  let secret = "";
  let timer: NodeJS.Timeout | null = null;
  let delivered = 0;

  function draw(): void {
    timer = null;
    const goal = target?.href ?? "this terminal";
    const title = `signalbox listen → ${goal}   ${state}   ${delivered} messages   signing secret ${secret}`;
    const { columns = 80, rows: lines = 24 } = stdout;
    const frame = renderList(list, { title, columns, lines, style: output.style });
    stdout.write(home + frame.map((line) => line + clearLine).join("\r\n"));
  }
  function update(next: MessageList): void {
    list = next;
    timer ??= setTimeout(draw, frameMs);
  }
  const say = (notice: string) => update({ ...list, notice });
  const tell = (work: Promise<string>) =>
    void work.then(say, (error: unknown) => say(describeFailure(error).lines[0] ?? ""));

  function onKey(text: string | undefined, { name = "", ctrl = false }: { name?: string; ctrl?: boolean }): void {
    const id = selectedRow(list)?.attempt.message.delivery_id;
    if (name === "q" || (ctrl && name === "c")) stop();
    else if (name === "r" && id !== undefined) tell(again(connection, id));
    else if (name === "o" && id !== undefined) tell(openInBrowser(consoleLink(connection, id)));
    else update(withKey(list, name || (text ?? "")));
  }

  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on("keypress", onKey);
  stdin.resume();
  stdout.write(enter);
  stdout.on("resize", draw);
  draw();

  return {
    onEndpoint(endpoint, replaces) {
      secret = endpoint.secret;
      say(replaces ? replacedNote.replaceAll("\n", " ") : "");
    },
    onConnection(next, reason) {
      state = next === "lost" ? `reconnecting: ${reason}` : next;
      update(list);
    },
    onAttempt(attempt) {
      if (attempt.message.attempt === 1) delivered += 1;
      update(withAttempt(list, attempt));
    },
    onSettled: (attempt, settled) => update(withSettled(list, attempt, settled)),
    close() {
      if (timer !== null) clearTimeout(timer);
      stdin.off("keypress", onKey).setRawMode(false).pause();
      stdout.off("resize", draw).write(leave);
      output.line(`${delivered} messages.`);
    },
  };
}

/** Asks for another attempt, signed anew: it comes through the stream. */
async function again({ client }: Connection, deliveryId: string): Promise<string> {
  await dataOf(client.POST("/api/v1/webhooks/deliveries/{id}/retry", { params: { path: { id: deliveryId } } }));
  return `${deliveryId} comes again.`;
}

/** Returns the page of a delivery in the web console. */
const consoleLink = ({ baseUrl }: Pick<Connection, "baseUrl">, deliveryId: string): string =>
  `${baseUrl}/console/deliveries/${encodeURIComponent(deliveryId)}`;
