import { base64Bodies } from "./base64-bodies.ts";
import { codeHosts } from "./code-hosts.ts";
import { ownSchemes } from "./own-schemes.ts";
import { payments } from "./payments.ts";
import { peopleAndFiles } from "./people-and-files.ts";
import type { Preset } from "./preset.ts";
import { publicKeys } from "./public-keys.ts";
import { signedMembers } from "./signed-members.ts";
import { standardWebhooksSenders } from "./standard-webhooks.ts";
import { timedHeaders } from "./timed-headers.ts";
import { timedPairs } from "./timed-pairs.ts";
import { tokens } from "./tokens.ts";
import { weakDigests } from "./weak-digests.ts";
import { workTrackers } from "./work-trackers.ts";

const families = {
  ...base64Bodies,
  ...codeHosts,
  ...ownSchemes,
  ...payments,
  ...peopleAndFiles,
  ...publicKeys,
  ...signedMembers,
  ...standardWebhooksSenders,
  ...timedHeaders,
  ...timedPairs,
  ...tokens,
  ...weakDigests,
  ...workTrackers,
};

export type PresetName = keyof typeof families;

/** Known senders by the name of their preset, in the order of their titles. */
export const presets = Object.fromEntries(
  Object.entries<Preset>(families).toSorted(([, one], [, other]) => one.title.localeCompare(other.title, "en")),
) as Readonly<Record<PresetName, Preset>>;
