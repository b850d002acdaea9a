import { base64Bodies } from "./base64-bodies.ts";
import { boardsAndCampaigns } from "./boards-and-campaigns.ts";
import { codeHosts } from "./code-hosts.ts";
import { microsoft } from "./microsoft.ts";
import { ownSchemes } from "./own-schemes.ts";
import { paymentPlatforms } from "./payment-platforms.ts";
import { payments } from "./payments.ts";
import { peopleAndFiles } from "./people-and-files.ts";
import type { KnownPreset, Preset } from "./preset.ts";
import { publicKeys } from "./public-keys.ts";
import { secretAddresses } from "./secret-addresses.ts";
import { signedMembers } from "./signed-members.ts";
import { signedTokens } from "./signed-tokens.ts";
import { standardWebhooksSenders } from "./standard-webhooks.ts";
import { timedHeaders } from "./timed-headers.ts";
import { timedPairs } from "./timed-pairs.ts";
import { tokens } from "./tokens.ts";
import { weakDigests } from "./weak-digests.ts";
import { workTrackers } from "./work-trackers.ts";

const families = {
  ...base64Bodies,
  ...boardsAndCampaigns,
  ...codeHosts,
  ...microsoft,
  ...ownSchemes,
  ...paymentPlatforms,
  ...payments,
  ...peopleAndFiles,
  ...publicKeys,
  ...secretAddresses,
  ...signedMembers,
  ...signedTokens,
  ...standardWebhooksSenders,
  ...timedHeaders,
  ...timedPairs,
  ...tokens,
  ...weakDigests,
  ...workTrackers,
};

/** The day on which the documentation of all senders was read. */
const documentedOn = "2026-11-26";

export type PresetName = keyof typeof families;

/** Known senders by the name of their preset, in the order of their titles. */
export const presets = Object.fromEntries(
  Object.entries<Preset>(families)
    .map(([name, preset]) => [name, { documentedOn, ...preset }] as const)
    .toSorted(([, one], [, other]) => one.title.localeCompare(other.title, "en")),
) as Readonly<Record<PresetName, KnownPreset>>;
