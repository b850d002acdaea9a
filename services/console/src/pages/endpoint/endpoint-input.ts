import type { Endpoint } from "../webhooks.ts";

/** The texts of the form of an endpoint, as they are typed. */
export interface EndpointInput {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: string;
  readonly filter: string;
  readonly format: string;
  readonly ordered: boolean;
  readonly timeoutSeconds: string;
  readonly maxInFlight: string;
  readonly retrySchedule: string;
}

export const emptyInput: EndpointInput = {
  url: "",
  description: "",
  eventTypes: "*",
  filter: "",
  format: "envelope",
  ordered: false,
  timeoutSeconds: "",
  maxInFlight: "",
  retrySchedule: "",
};

/** Writes an endpoint into the fields of the form. */
export function inputOf({ url, description, event_types, settings }: Endpoint): EndpointInput {
  return {
    url,
    description: description ?? "",
    eventTypes: event_types.join("\n"),
    filter: settings.filter ? JSON.stringify(settings.filter, null, 2) : "",
    format: settings.format,
    ordered: settings.ordered,
    timeoutSeconds: textOf(settings.timeout_seconds),
    maxInFlight: textOf(settings.max_in_flight),
    retrySchedule: settings.retry_schedule_seconds?.join(", ") ?? "",
  };
}

const textOf = (value: number | null): string => (value === null ? "" : String(value));

/**
 * Reads the fields of the form. The API judges the values; only what cannot be sent is refused here.
 * @throws Error that names the field
 */
export function bodyOf(input: EndpointInput) {
  return {
    description: input.description.trim() || null,
    event_types: wordsOf(input.eventTypes),
    settings: {
      filter: filterOf(input.filter),
      format: input.format as Endpoint["settings"]["format"],
      ordered: input.ordered,
      timeout_seconds: numberOf(input.timeoutSeconds, "Time limit"),
      max_in_flight: numberOf(input.maxInFlight, "At the same time"),
      retry_schedule_seconds:
        input.retrySchedule.trim() === ""
          ? null
          : wordsOf(input.retrySchedule).map((word) => numberOf(word, "Waits between tries") ?? 0),
    },
  };
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

function numberOf(text: string, field: string): number | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`${field}: “${text}” is no number.`);
  return value;
}

function filterOf(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Filter: this is not JSON. ${(error as Error).message}`);
  }
}
