import type { ReactNode } from "react";
import { useMay } from "../session/api.ts";
import { Action } from "./dialog.tsx";
import { Id, Status, Time } from "./inline.tsx";
import { type Columns, Panel } from "./page.tsx";
import parts from "./parts.module.css";
import { type ListQuery, type Paged, ResourceList } from "./resource-list.tsx";

/** A replay of deliveries or of received webhooks, or a retry of rejections. */
interface Replay {
  readonly id: string;
  readonly status: "running" | "done" | "completed" | "cancelled";
  readonly total: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly created_at: string;
}

interface ReplaysSoFarProps<One extends Replay> {
  readonly noun?: "replay" | "retry";
  /** Address of the list. */
  readonly path: string;
  readonly read: (query: ListQuery) => PromiseLike<Paged<One>>;
  /** A sentence where there is none. */
  readonly empty: string;
  /** The items that were sent or passed over. */
  readonly done: (replay: One) => number;
  /** A word on progress beside the bar. */
  readonly note?: (replay: One) => ReactNode;
  readonly columns?: Columns<One>;
  readonly of: (replay: One) => ReactNode;
  /** A sentence about what a cancelled one leaves. */
  readonly kept: string;
  readonly cancel: (replay: One) => Promise<unknown>;
}

const labels = { replay: "Replays", retry: "Retries" } as const;

/** The replays so far: how far each is, and the way to cancel one. While one runs they are read every second. */
export function ReplaysSoFar<One extends Replay>(props: ReplaysSoFarProps<One>) {
  const { noun = "replay", path, read, empty } = props;
  const label = labels[noun];
  const columns = columnsOf({ ...props, noun }, useMay("webhooks:write"));
  return (
    <Panel title={`${label} so far`}>
      <ResourceList
        label={label}
        noun={noun}
        path={path}
        read={read}
        empty={empty}
        everyMs={({ items }) => items.some(({ status }) => status === "running") && 1_000}
        columns={columns}
      />
    </Panel>
  );
}

function columnsOf<One extends Replay>(props: ReplaysSoFarProps<One>, mayWrite: boolean): Columns<One> {
  const { noun = "replay", done, note, columns, of, kept, cancel } = props;
  return {
    [noun === "retry" ? "Retry" : "Replay"]: ({ id }) => <Id value={id} />,
    Status: ({ status }) => <Status>{status}</Status>,
    Progress: (replay) => (
      <>
        <Progress done={done(replay)} total={replay.total} />
        {note?.(replay)}
      </>
    ),
    ...columns,
    Selection: of,
    Started: (replay) => (
      <div className={parts.row}>
        <Time at={replay.created_at} />
        {mayWrite && replay.status === "running" && (
          <Action
            label={`Cancel the ${noun}`}
            dismiss="Keep it running"
            what={noun}
            kind="danger"
            confirm={`${kept} The rest is left alone.`}
            run={() => cancel(replay)}
          />
        )}
      </div>
    ),
  };
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
