import type { Command } from "./declare.ts";

/** The commands around events and their deliveries. */
export const webhookCommands: readonly Command[] = [];
