import { calendly } from "./calendly.ts";
import { discord } from "./discord.ts";
import { dropbox } from "./dropbox.ts";
import { gitlab } from "./gitlab.ts";
import { hubspot } from "./hubspot.ts";
import { linear } from "./linear.ts";
import { meta } from "./meta.ts";
import { microsoftGraph } from "./microsoft-graph.ts";
import { paddle } from "./paddle.ts";
import { pagerduty } from "./pagerduty.ts";
import type { Preset } from "./preset.ts";
import { sentry } from "./sentry.ts";
import { square } from "./square.ts";
import { telegram } from "./telegram.ts";
import { typeform } from "./typeform.ts";
import { zendesk } from "./zendesk.ts";
import { zoom } from "./zoom.ts";

/** Known senders, by the name of their preset. */
export const presets = {
  calendly,
  discord,
  dropbox,
  gitlab,
  hubspot,
  linear,
  meta,
  "microsoft-graph": microsoftGraph,
  paddle,
  pagerduty,
  sentry,
  square,
  telegram,
  typeform,
  zendesk,
  zoom,
} satisfies Readonly<Record<string, Preset>>;
export type PresetName = keyof typeof presets;
