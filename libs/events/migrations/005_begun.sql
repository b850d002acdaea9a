-- Messages that a process has in hand, and how many processes have ended with them in hand. Written where a consumer goes
-- on after another: in steady work there is none.
create table signalbox.begun (
  consumer text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  -- Of the process that has it now.
  process uuid not null,
  deaths integer not null default 0,
  begun_at timestamptz not null default clock_timestamp(),
  primary key (consumer, topic, partition, "offset")
);
