import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Answer } from "./answer.tsx";
import { Action } from "./dialog.tsx";
import { Id, Status, Time, type Tone } from "./inline.tsx";
import { Pager } from "./lists.tsx";
import { type Column, Panel, Table } from "./page.tsx";
import parts from "./parts.module.css";

/** A replay of deliveries or of received webhooks. */
interface Replay {
  readonly id: string;
  readonly status: "running" | "done" | "completed" | "cancelled";
  readonly total: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly created_at: string;
}

interface ReplaysSoFarProps<One extends Replay> {
  readonly replays: UseQueryResult<{ readonly items: readonly One[]; readonly next_cursor?: string | undefined }>;
  /** A sentence where there is none. */
  readonly empty: string;
  /** The items that were sent or passed over. */
  readonly done: (replay: One) => number;
  /** A word on progress beside the bar. */
  readonly note?: (replay: One) => ReactNode;
  readonly columns?: readonly Column<One>[];
  readonly of: (replay: One) => ReactNode;
  /** A sentence about what a cancelled replay leaves. */
  readonly kept: string;
  /** Absent for who may not write. */
  readonly cancel?: ((replay: One) => Promise<unknown>) | undefined;
}

const tones: Readonly<Record<Replay["status"], Tone>> = {
  running: "wait",
  done: "good",
  completed: "good",
  cancelled: "off",
};

/** Interval at which a list with a running replay is read again. */
export const replayPollMs = (items: readonly Replay[] | undefined): number | false =>
  items?.some(({ status }) => status === "running") ? 1_000 : false;

/** The replays so far: how far each is, and the way to cancel one. */
export function ReplaysSoFar<One extends Replay>({ replays, empty, ...shown }: ReplaysSoFarProps<One>) {
  return (
    <Panel title="Replays so far">
      <Answer query={replays} what="replays" isEmpty={({ items }) => items.length === 0} empty={<p>{empty}</p>}>
        {({ items, next_cursor: next }) => (
          <>
            <Table label="Replays" rows={items} keyOf={({ id }) => id} columns={columnsOf(shown)} />
            <Pager next={next} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

function columnsOf<One extends Replay>(shown: Omit<ReplaysSoFarProps<One>, "replays" | "empty">): Column<One>[] {
  const { done, note, columns = [], of, kept, cancel } = shown;
  return [
    { name: "Replay", cell: ({ id }) => <Id value={id} /> },
    { name: "Status", cell: ({ status }) => <Status tone={tones[status]}>{status}</Status> },
    {
      name: "Progress",
      cell: (replay) => (
        <>
          <Progress done={done(replay)} total={replay.total} />
          {note?.(replay)}
        </>
      ),
    },
    ...columns,
    { name: "Of", cell: of },
    {
      name: "Started",
      cell: (replay) => (
        <div className={parts.row}>
          <Time at={replay.created_at} />
          {cancel && replay.status === "running" && (
            <Action
              label="Cancel the replay"
              dismiss="Let it go on"
              what="replay"
              kind="danger"
              confirm={`${kept} The rest is left as it is.`}
              run={() => cancel(replay)}
            />
          )}
        </div>
      ),
    },
  ];
}

function Progress({ done, total }: { readonly done: number; readonly total: number }) {
  const text = `${done} of ${total}`;
  return (
    <span className={parts.status}>
      <progress max={Math.max(1, total)} value={done} aria-label={text} />
      {text}
    </span>
  );
}
